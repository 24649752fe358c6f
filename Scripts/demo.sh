#!/usr/bin/env bash
# Shows a WireGuard tunnel between two network namespaces, both ends by `providerhost run`, and cleans up after itself.
source "$(dirname "$0")/common.sh"
need_swift
need_packages "${build_packages[@]}" "${run_packages[@]}"
[ "$(id -u)" = 0 ] || fail "needs root for network namespaces and TUN devices. Run: sudo $0"
[ -c /dev/net/tun ] || fail "/dev/net/tun is missing. Load it: modprobe tun"

say "Building (release)"
swift build -c release --product providerhost
swift build -c release --product WireGuardProvider
host=$PWD/.build/release/providerhost

work=$(mktemp -d)
export PROVIDERHOST_STATE_DIR=$work/state
gateway=phdemo-$$-gw client=phdemo-$$-cl
started=()
clean_up() {
    local pid
    for pid in "${started[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
    ip netns del "$gateway" 2>/dev/null || true
    ip netns del "$client" 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

say "Two namespaces joined by a cable: gateway 192.0.2.1, client 192.0.2.2"
ip netns add "$gateway"
ip netns add "$client"
ip link add gw0 netns "$gateway" type veth peer name cl0 netns "$client"
ip -n "$gateway" address add 192.0.2.1/24 dev gw0
ip -n "$client" address add 192.0.2.2/24 dev cl0
for end in "$gateway:gw0" "$client:cl0"; do
    ip -n "${end%%:*}" link set "${end##*:}" up
    ip -n "${end%%:*}" link set lo up
done

umask 077
wg genkey >"$work/gateway.key"
wg genkey >"$work/client.key"
cat >"$work/gateway.conf" <<EOF
[Interface]
PrivateKey = $(cat "$work/gateway.key")
Address = 10.7.0.1/24, fd07::1/64
ListenPort = 51820

[Peer]
PublicKey = $(wg pubkey <"$work/client.key")
AllowedIPs = 10.7.0.2/32, fd07::2/128
EOF
cat >"$work/client.conf" <<EOF
[Interface]
PrivateKey = $(cat "$work/client.key")
Address = 10.7.0.2/24, fd07::2/64

[Peer]
PublicKey = $(wg pubkey <"$work/gateway.key")
Endpoint = 192.0.2.1:51820
AllowedIPs = 10.7.0.0/24, fd07::/64
EOF

# start NAMESPACE CONFIG: runs a tunnel in the background and waits until it says that it is connected.
start() {
    local namespace=$1 config=$2 pid
    ip netns exec "$namespace" "$host" run --bundle-id org.providerhost.wireguard --config "$config" >"$config.log" 2>&1 &
    pid=$!
    started+=("$pid")
    for _ in $(seq 100); do
        grep -q '^connected' "$config.log" && break
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    sed 's/^/   /' "$config.log"
    grep -q '^connected' "$config.log" || fail "the tunnel of $config did not come up; its output stands above"
}

say "providerhost run --bundle-id org.providerhost.wireguard --config gateway.conf"
start "$gateway" "$work/gateway.conf"
say "providerhost run --bundle-id org.providerhost.wireguard --config client.conf"
start "$client" "$work/client.conf"

say "Ping through the tunnel, IPv4 and IPv6"
ip netns exec "$client" ping -c 3 -i 0.2 -W 2 10.7.0.1
ip netns exec "$client" ping -c 3 -i 0.2 -W 2 fd07::1

say "One TCP stream through the tunnel, 3 s"
ip netns exec "$gateway" iperf3 -s -1 -B 10.7.0.1 >/dev/null 2>&1 &
started+=("$!")
for _ in $(seq 50); do
    ip netns exec "$gateway" ss -Hltn 'sport = :5201' | grep -q . && break
    sleep 0.1
done
ip netns exec "$client" iperf3 -c 10.7.0.1 -t 3 -f g | grep -E 'sender|receiver'

say "Ctrl-C (SIGINT) stops a tunnel through its provider"
kill -INT "${started[1]}"
wait "${started[1]}" && status=0 || status=$?
sed 's/^/   /' "$work/client.conf.log"
echo "   exit status $status; links left at the client:" "$(ip -n "$client" -br link | awk '{print $1}' | xargs)"

cat <<EOF

The same by hand, on a machine of yours (a configuration as wg-quick reads it):
   $host bundles
   sudo $host run --bundle-id org.providerhost.wireguard --config office.conf
   ... and Ctrl-C to stop. Nothing of this demo is left behind.
EOF
