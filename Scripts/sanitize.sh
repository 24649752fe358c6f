#!/usr/bin/env bash
# AddressSanitizer over C, parsers and protocol, then ThreadSanitizer over session, rings and manager; each is a build
# of its own, so this is not part of Scripts/test.sh.
source "$(dirname "$0")/common.sh"
need_swift
need_packages "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}"

say "AddressSanitizer: C, parsers, protocol"
LSAN_OPTIONS="suppressions=$PWD/Scripts/lsan.supp" \
    swift test --scratch-path .build/asan --sanitize address --filter '^(WireGuardTests|PacketPathTests|NetlinkTests|FuzzTests)\.'

say "ThreadSanitizer: session, rings, manager"
TSAN_OPTIONS="suppressions=$PWD/Scripts/tsan.supp" \
    swift test --scratch-path .build/tsan --sanitize thread --filter '^(SessionTests|PacketPathTests|HostRuntimeTests\.Manager.*)\.|^WireGuardProviderTests\.EngineTests/order'
