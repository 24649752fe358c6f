#!/usr/bin/env bash
# Tries on-demand rules with the kernel's own Wi-Fi: in a Debian kernel in QEMU, one simulated radio (mac80211_hwsim) serves
# several networks, and another one moves between them while `providerhost daemon` looks on. For a developer's hand, not for
# CI: two minutes.
source "$(dirname "$0")/common.sh"
source Scripts/machine.sh
need_packages "${wifi_packages[@]}"
# The cloud flavour has no Wi-Fi.
need_kernel linux-image-amd64
# Installing these would start services.
need_unpacked hostapd wpasupplicant

say "Building"
swift build --product providerhost
swift build --product LoopbackProvider

say "A machine of $kernel, busybox, hostapd, wpa_supplicant, iw and providerhost"
packages=$PWD/.build/test-packages
pack_program "$(command -v iw)" "$packages/hostapd/usr/sbin/hostapd" "$packages"/wpasupplicant/sbin/wpa_{supplicant,cli} \
    "$PWD"/.build/debug/{providerhost,libLoopbackProvider.so}
for module in virtio_pci virtio_net tun ccm ctr cmac; do pack_module "$module"; done
pack_module mac80211_hwsim radios=2
cp -r .build/debug/providerhost_ProviderHost.resources "$work/guest/bin/"
mkdir -p "$work/guest/var/lib"
ln -s /run "$work/guest/var/run"

# The networks: the first has a password, the third a name beyond ASCII, the fourth one of full length, and the last does not
# tell its name to who listens.
word='Büro 東京'
long=0123456789abcdef0123456789abcdef
cat >"$work/guest/hostapd.conf" <<HOSTAPD
interface=wlan0
driver=nl80211
hw_mode=g
channel=1
ssid=office
wpa=2
wpa_key_mgmt=WPA-PSK
rsn_pairwise=CCMP
wpa_passphrase=correct horse
bss=wlan0_1
ssid=cafe
bss=wlan0_2
ssid2="$word"
bss=wlan0_3
ssid=$long
bss=wlan0_4
ssid=secret
ignore_broadcast_ssid=1
HOSTAPD
# network NAME LINE...: a network as wpa_supplicant wants it; one channel is searched faster than all.
network() {
    printf 'network={\nssid="%s"\nscan_freq=2412\ndisabled=1\n' "$1"
    shift
    printf '%s\n' "$@" '}'
}
{
    echo "ctrl_interface=/var/run/wpa_supplicant"
    network office 'psk="correct horse"'
    network cafe key_mgmt=NONE
    network "$word" key_mgmt=NONE
    network "$long" key_mgmt=NONE
    network secret key_mgmt=NONE scan_ssid=1
} >"$work/guest/wpa_supplicant.conf"
cat >"$work/guest/rules.json" <<RULES
[{"action": 1, "interfaceTypeMatch": 2, "ssidMatch": ["lobby", "office"]},
 {"action": 2, "interfaceTypeMatch": 0, "ssidMatch": ["cafe"]},
 {"action": 1, "interfaceTypeMatch": 0, "ssidMatch": ["$word", "$long", "secret"]},
 {"action": 1, "interfaceTypeMatch": 2},
 {"action": 2, "interfaceTypeMatch": 1}]
RULES
echo '{"IPv4Address": "10.99.0.1"}' >"$work/guest/loopback.json"
boot_machine 1024

# The address and the route stay what they are in every network: nothing but its name tells one from another.
# as_type TYPE: makes the second radio's interface one of a station ("managed") or of a cell without access points ("ibss").
as_type() {
    there "ip link set wlan1 down && iw dev wlan1 set type $1 && ip link set wlan1 up && ip address replace 198.51.100.2/24 dev wlan1 &&
        ip route add default via 198.51.100.1 dev wlan1"
}
there 'hostapd -B -f /tmp/hostapd.log /hostapd.conf' || fail "hostapd does not run"
as_type managed || fail "the second radio cannot be set up"
there 'wpa_supplicant -B -i wlan1 -D nl80211 -f /tmp/supplicant.log -c /wpa_supplicant.conf' || fail "wpa_supplicant does not run"
supplicant() { there "wpa_cli -i wlan1 $*"; }
daemon() {
    there 'providerhost daemon >/tmp/daemon.log 2>&1 & echo $! >/tmp/daemon.pid
        for n in 1 2 3 4 5 6 7 8 9; do grep -q listens /tmp/daemon.log && break; sleep 1; done
        cat /tmp/daemon.log; grep -q listens /tmp/daemon.log'
}
daemon || fail "providerhost daemon does not run"
there 'providerhost profile import /loopback.json --name office --bundle-id org.providerhost.loopback &&
    providerhost profile edit office --rules /rules.json --on-demand yes' || fail "the profile cannot be saved"

# decided STATUS RULE TEXT: waits until the tunnel has this status, by this rule of five, in a network that is told with this
# text at its end.
decided() {
    local output _
    for _ in $(seq 30); do
        output=$(there 'providerhost status office --why')
        if [[ $output == "office $1"*"Rule $2 of 5 "*"The network: $3." ]]; then return; fi
    done
    printf '%s\n' "$output"
    there 'iw dev wlan1 link; providerhost log office; tail -n 5 /tmp/daemon.log /tmp/supplicant.log /tmp/hostapd.log'
    return 1
}
# join INDEX STATUS RULE NAME: leaves the network and joins another one of wpa_supplicant's list.
join() { supplicant select_network "$1" && decided "$2" "$3" "wlan1 (wiFi), Wi-Fi $4"; }
leave() { supplicant disconnect && decided disconnected 5 "eth0 (ethernet)"; }
# The log tells of every start and stop who wanted it.
only_rules() {
    local log
    log=$(there 'providerhost log office')
    printf '%s\n' "$log"
    [ "$(grep -c ' on demand: .* starts the tunnel' <<<"$log")" = 5 ] &&
        [ "$(grep -c ' on demand: .* stops the tunnel' <<<"$log")" = 4 ] && ! grep -E 'St(art|op) by ' <<<"$log"
}
restart() {
    # shellcheck disable=SC2016 # The machine's shell expands these.
    there 'read -r pid </tmp/daemon.pid; kill "$pid"; while [ -d "/proc/$pid" ]; do sleep 1; done' && daemon &&
        decided connected 1 "wlan1 (wiFi), Wi-Fi office"
}
# The kernel has a state machine of its own, for programs that leave authentication and association to it.
join_by_kernel() {
    there "iw dev wlan1 disconnect; iw dev wlan1 connect '$1'" && decided "$2" "$3" "wlan1 (wiFi), Wi-Fi $1"
}
leave_by_kernel() { there 'iw dev wlan1 disconnect' && decided disconnected 5 "eth0 (ethernet)"; }
join_cell() {
    there "iw dev wlan1 ibss leave; iw dev wlan1 ibss join '$1' 2412" && decided "$2" "$3" "wlan1 (wiFi), Wi-Fi $1"
}

say "Checks"
check "without a Wi-Fi network, the rule for Ethernet decides" decided disconnected 5 "eth0 (ethernet)"
check "joining 'office', by WPA2, starts the tunnel, and --why names the rule and the network" join 0 connected 1 office
check "moving to 'cafe' stops it by another rule" join 1 disconnected 2 cafe
check "moving to '$word' starts it" join 2 connected 3 "$word"
check "moving back to 'cafe' stops it" join 1 disconnected 2 cafe
check "moving to a name of 32 bytes starts it" join 3 connected 3 "$long"
check "leaving is a change: no network is named, and the rule for Ethernet stops it" leave
check "joining a hidden network starts it: its name is known from the answer to the probe" join 4 connected 3 secret
check "moving to 'cafe' stops it once more" join 1 disconnected 2 cafe
check "moving to 'office' starts it once more" join 0 connected 1 office
check "that were five starts and four stops by rules, and none by anybody else" only_rules
check "a manager that starts in 'office' starts it, without any client" restart
supplicant terminate >/dev/null || true
as_type managed || fail "the radio cannot be set up again"
check "joining 'cafe' by the kernel's own state machine stops it" join_by_kernel cafe disconnected 2
check "moving to '$word' by it starts it" join_by_kernel "$word" connected 3
check "leaving by it is a change" leave_by_kernel
as_type ibss || fail "the radio cannot join cells"
check "joining a cell without access points starts it, by the rule for all other networks" join_cell elsewhere connected 4
check "moving to the cell 'cafe' stops it" join_cell cafe disconnected 2

conclude
