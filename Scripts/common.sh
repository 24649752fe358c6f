# Sourced by the other scripts: finds Swift and installs the Debian packages that are missing.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build_packages=(libsodium-dev libb2-dev libmnl-dev libsqlite3-dev libssl-dev libsystemd-dev)
[ "$(uname -m)" = x86_64 ] && build_packages+=(libipsec-mb-dev)
run_packages=(curl iproute2 nftables iputils-ping iperf3 wireguard-tools procps)
test_packages=(wireguard-go ncat openssl strace e2fsprogs dbus tcpdump ethtool)
# What Scripts/kernel-interop.sh and Scripts/wifi.sh need beside those; CI does not run them.
machine_packages=(qemu-system-x86 busybox-static binutils)
wifi_packages=(iw libdbus-1-3 libnl-route-3-200 libpcsclite1 libreadline8)
# Installing these would change the machine's own resolver, so the tests run them from .build/test-packages.
unpacked_packages=(systemd-resolved openresolv resolvconf)

say() { printf '\n== %s\n' "$*"; }
fail() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

need_swift() {
    if ! command -v swift >/dev/null; then
        fail "Swift 6.3 is not installed. Get it from https://www.swift.org/install/linux/debian/12, put its bin folder into PATH, and run this again."
    fi
}

# need_unpacked NAME...: unpacks packages into .build/test-packages without installing them.
need_unpacked() {
    local package folder=$PWD/.build/test-packages
    for package in "$@"; do
        [ -d "$folder/$package" ] && continue
        say "Unpacking $package"
        mkdir -p "$folder"
        rm -f "$folder/$package"_*.deb
        (cd "$folder" && apt-get download -qq -o APT::Sandbox::User=root "$package" && dpkg -x "$package"_*.deb "$package.new")
        mv "$folder/$package.new" "$folder/$package"
    done
}

# need_packages NAME...: installs what is missing as root, else says what to install.
need_packages() {
    local missing=() package
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    [ "$(id -u)" = 0 ] || fail "these Debian packages are missing: ${missing[*]}. Install them: sudo apt-get install ${missing[*]}"
    say "Installing ${missing[*]}"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
