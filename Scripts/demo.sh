#!/usr/bin/env bash
# Shows a gateway that gives a client its addresses, routes, DNS and MTU, in two network namespaces, and cleans up after itself.
source "$(dirname "$0")/common.sh"
need_swift
need_packages "${build_packages[@]}" "${run_packages[@]}"
[ "$(id -u)" = 0 ] || fail "needs root for network namespaces and TUN devices. Run: sudo $0"
[ -c /dev/net/tun ] || fail "/dev/net/tun is missing. Load it: modprobe tun"

say "Building (release)"
swift build -c release --product providerhost
swift build -c release --product WireGuardProvider
swift build -c release --product GatewayProvider
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
export PROVIDERHOST_STATE_DIR=$work/state
# verb ARGUMENT...: runs a verb of the gateway and shows it.
verb() {
    printf '   providerhost gateway %s\n' "$*"
    "$host" gateway "$@" | sed 's/^/      /'
}

# start NAMESPACE NAME COMMAND...: runs a tunnel in the background and waits until it says that it is connected.
start() {
    local namespace=$1 log=$work/$2.log pid
    shift 2
    ip netns exec "$namespace" "$host" "$@" >"$log" 2>&1 &
    pid=$!
    started+=("$pid")
    for _ in $(seq 100); do
        grep -q '^connected' "$log" && break
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    sed 's/^/   /' "$log"
    grep -q '^connected' "$log" || fail "the tunnel did not come up; its output stands above"
}

say "The gateway, a peer, and what it is to have"
verb init --listen-port 51820 --endpoint 192.0.2.1:51820 --pool 10.7.0.0/24 --pool fd07::/64
verb peer add alice
verb route add 10.20.0.0/16
verb dns set 10.7.0.1 --match corp.example
verb mtu set 1380

say "providerhost gateway run"
start "$gateway" gateway gateway run --interface phgw0

say "providerhost gateway export alice >alice.conf: keys and endpoint, nothing of the network"
"$host" gateway export alice >"$work/alice.conf"
sed -E 's/^(P[a-zA-Z]*Key = ......).*/\1.../; s/^/   /' "$work/alice.conf"

say "providerhost run --bundle-id org.providerhost.wireguard --config alice.conf"
start "$client" client run --bundle-id org.providerhost.wireguard --config "$work/alice.conf"

# routes: the client's routes into the tunnel, in one line.
routes() {
    {
        ip -n "$client" route show table all dev phtun0
        ip -n "$client" -6 route show table all dev phtun0
    } | awk '$1 ~ /\// {print $1}' | sort -u | xargs
}
say "What the client has now"
echo "   addresses: $(ip -n "$client" -br address show phtun0 | awk '{$1 = $2 = ""; print $0}' | xargs)"
echo "   routes:    $(routes)"
echo "   MTU:       $(ip netns exec "$client" cat /sys/class/net/phtun0/mtu)"
echo "   DNS:       $("$host" gateway dns show) (offered: a namespace has no resolver of its own to take it)"

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

say "A route is added at the gateway and appears at the client"
verb route add 10.30.0.0/16
for _ in $(seq 50); do
    [[ " $(routes) " == *" 10.30.0.0/16 "* ]] && break
    sleep 0.1
done
echo "   routes:    $(routes)"
[[ " $(routes) " == *" 10.30.0.0/16 "* ]] || fail "the route did not appear at the client within 5 s"
# The gateway writes results once per second.
sleep 1.2
verb results

say "Ctrl-C (SIGINT) stops a tunnel through its provider"
kill -INT "${started[1]}"
wait "${started[1]}" && status=0 || status=$?
tail -n 1 "$work/client.log" | sed 's/^/   /'
echo "   exit status $status; links left at the client:" "$(ip -n "$client" -br link | awk '{print $1}' | xargs)"

cat <<EOF

The same by hand, on machines of yours: the verbs above at the gateway, then
   sudo $host gateway run
and at a client, with what \`gateway export\` prints or any file of wg-quick's
   sudo $host run --bundle-id org.providerhost.wireguard --config alice.conf
   ... and Ctrl-C to stop. Nothing of this demo is left behind.
EOF
