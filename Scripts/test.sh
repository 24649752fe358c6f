#!/usr/bin/env bash
# Builds everything and runs every test. As root also those that need namespaces; else they are skipped by name.
# Scripts/sanitize.sh and Scripts/fuzz.sh go further, by builds of their own.
source "$(dirname "$0")/common.sh"
need_swift
need_packages "${build_packages[@]}" "${run_packages[@]}" "${test_packages[@]}"
need_unpacked "${unpacked_packages[@]}"

# The client of another project; where it cannot be had, the test that needs it is skipped by name.
[ -d .build/python/varlink ] || python3 -m pip install -q --target .build/python varlink==31.0.0 2>/dev/null ||
    echo "The Python package varlink is not installed: the test with an outside client is skipped."

say "Building"
swift build --build-tests

say "Soundness: arrows, format, unsafe code, imports, link set"
Scripts/soundness.sh

say "Tests"
[ "$(id -u)" = 0 ] || echo "Not root: the tests that need namespaces are skipped by name."
pure='^(DNSTests|FuzzTests|SettingsPushTests|SessionTests|WireGuardTests)\.'
swift test --skip-build --filter "$pure"
# One at a time: the others have deadlines of seconds, and two cores.
swift test --skip-build --no-parallel --skip "^SystemTests\.|$pure"

say "System tests: real interfaces, real packets, real peers"
# Those that block while they wait for other processes would keep the tasks of those that await from running.
awaiting='^SystemTests\.(ClientAPI|Daemon|VarlinkClient)'
swift test --skip-build --no-parallel --filter "$awaiting"
# Two processes: blocked threads are most of what the others need, and a process has two.
tests=$(swift build --show-bin-path)/providerhostPackageTests.xctest
first='^SystemTests\.[A-L]'
"$tests" --testing-library swift-testing --filter "$first" --skip "$awaiting" >.build/system-tests.log 2>&1 &
others=$!
status=0
"$tests" --testing-library swift-testing --filter '^SystemTests\.' --skip "$awaiting|$first" || status=$?
wait "$others" || status=$?
cat .build/system-tests.log
[ "$status" = 0 ]

say "Allocations, reference counts and copies of the packet path, against their thresholds"
# Optimized, because only then the counts are those of a tunnel.
swift build -c release --product Benchmarks
.build/release/Benchmarks path --check Benchmarks/Thresholds/path.json
