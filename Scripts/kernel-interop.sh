#!/usr/bin/env bash
# Runs tunnels between this machine and the kernel's own WireGuard: a Debian kernel in QEMU, joined by a cable to a namespace
# in which `providerhost wireguard` serves. For a developer's hand, not for CI: three minutes, most of which wait for
# keys to be renewed.
source "$(dirname "$0")/common.sh"
source Scripts/machine.sh
need_kernel linux-image-cloud-amd64

say "Building"
swift build --product providerhost
swift build --product WireGuardProvider
host=$PWD/.build/debug/providerhost
export PROVIDERHOST_STATE_DIR=$work/state
# The names stand in one folder for all namespaces, hence the number.
called=phk$$a calling=phk$$b

say "A machine of $kernel, busybox and wg"
pack_program "$(command -v wg)"
for module in virtio_pci virtio_net wireguard; do pack_module "$module"; done
boot_machine 256

# Two tunnels: in the first only the machine knows where its peer is, in the second only we do, and there is a preshared key.
key() { cat "$work/$1"; }
umask 077
for name in called calling called.there calling.there; do
    wg genkey >"$work/$name"
    wg pubkey <"$work/$name" >"$work/$name.public"
done
wg genpsk >"$work/shared"
wg genpsk >"$work/wrong"
for interface in "$called" "$calling"; do
    ip netns exec "$namespace" "$host" wireguard -f "$interface" >"$work/$interface.log" 2>&1 &
    started+=("$!")
    for _ in $(seq 50); do
        [ -S "/var/run/wireguard/$interface.sock" ] && break
        sleep 0.1
    done
done
here wg set "$called" private-key "$work/called" listen-port 51821 \
    peer "$(key called.there.public)" allowed-ips 10.7.1.2/32,fd07:1::2/128
here wg set "$calling" private-key "$work/calling" listen-port 51822 \
    peer "$(key calling.there.public)" preshared-key "$work/shared" allowed-ips 10.7.2.2/32,fd07:2::2/128 endpoint 192.0.2.2:51822
number=1
for interface in "$called" "$calling"; do
    here ip address add "10.7.$number.1/24" dev "$interface"
    here ip address add "fd07:$number::1/64" dev "$interface" nodad
    here ip link set "$interface" up
    number=$((number + 1))
done
there "umask 077; for n in 1 2; do
    ip link add dev wg\$n type wireguard && ip address add 10.7.\$n.2/24 dev wg\$n &&
    ip -6 address add fd07:\$n::2/64 dev wg\$n && ip link set wg\$n up || exit; done
    echo $(key called.there) >/tmp/1; echo $(key calling.there) >/tmp/2; echo $(key shared) >/tmp/shared
    wg set wg1 private-key /tmp/1 listen-port 51821 peer $(key called.public) \
        allowed-ips 10.7.1.1/32,fd07:1::1/128 endpoint 192.0.2.1:51821 &&
    wg set wg2 private-key /tmp/2 listen-port 51822 peer $(key calling.public) preshared-key /tmp/shared \
        allowed-ips 10.7.2.1/32,fd07:2::1/128" || fail "the machine's interfaces cannot be set up"

ping_here() { here ping -c 3 -i 0.2 -W 2 "$1"; }
ping_there() { there "ping -c 3 -W 2 $1"; }
endpoint_here() { here wg show "$1" endpoints | cut -f 2; }
endpoint_there() { there "wg show $1 endpoints" | cut -f 2; }
handshake_here() { here wg show "$1" latest-handshakes | cut -f 2; }
handshake_there() { there "wg show $1 latest-handshakes" | cut -f 2; }

kernel_initiates() {
    [ "$(endpoint_here "$called")" = "(none)" ] && ping_there 10.7.1.1 && ping_there fd07:1::1 && ping_here 10.7.1.2
}
we_initiate() {
    [ "$(endpoint_there wg2)" = "(none)" ] && ping_here 10.7.2.2 && ping_here fd07:2::2 && ping_there 10.7.2.1
}
# A peer that is made anew has no session that a key of before could live on in.
preshared_key() {
    local peer
    peer=$(key calling.there.public)
    renew() {
        here wg set "$calling" peer "$peer" remove
        here wg set "$calling" peer "$peer" preshared-key "$1" allowed-ips 10.7.2.2/32,fd07:2::2/128 endpoint 192.0.2.2:51822
    }
    renew "$work/wrong"
    ! ping_here 10.7.2.2 || return 1
    renew "$work/shared"
    ping_here 10.7.2.2
}
# listen COMMAND: starts what listens at port 4000 of the machine, and waits until it does.
listen() {
    there "{ $1; } >/dev/null 2>&1 &"
    for _ in $(seq 20); do
        if there 'netstat -ltn | grep -q ":4000 "'; then return; fi
        sleep 0.5
    done
    return 1
}
send_file() {
    local sum
    sum=$(sha256sum <"$work/file")
    listen 'nc -l -p 4000 </dev/null | sha256sum >/tmp/sum' || return 1
    # shellcheck disable=SC2016 # The inner shell expands these.
    here timeout 60 bash -c 'cat "$1" >"/dev/tcp/$2/4000"' _ "$work/file" "$1" || return 1
    for _ in $(seq 20); do
        if [ "$(there 'cat /tmp/sum')" = "$sum" ]; then return; fi
        sleep 0.5
    done
    return 1
}
receive_file() {
    there 'dd if=/dev/urandom of=/tmp/file bs=1M count=20' && listen 'nc -l -p 4000 </tmp/file' || return 1
    # shellcheck disable=SC2016 # The inner shell expands these.
    here timeout 60 bash -c 'cat <"/dev/tcp/$1/4000"' _ "$1" >"$work/received" || return 1
    [ "$(there 'sha256sum </tmp/file')" = "$(sha256sum <"$work/received")" ]
}
we_roam() {
    here wg set "$called" listen-port 51831 && here ping -c 1 -W 1 10.7.1.2 && [ "$(endpoint_there wg1)" = 192.0.2.1:51831 ]
}
we_roam_to_ipv6() {
    here wg set "$called" peer "$(key called.there.public)" endpoint '[2001:db8::2]:51821' &&
        here ping -c 1 -W 1 10.7.1.2 && [ "$(endpoint_there wg1)" = '[2001:db8::1]:51831' ]
}
kernel_roams() {
    there 'wg set wg2 listen-port 51832 && ping -c 1 -W 1 10.7.2.1' &&
        [ "$(endpoint_here "$calling")" = 192.0.2.2:51832 ]
}

say "Checks"
head -c 20M /dev/urandom >"$work/file"
check "the kernel initiates; pings both ways, IPv4 and IPv6" kernel_initiates
check "we initiate, with a preshared key; pings both ways, IPv4 and IPv6" we_initiate
check "a wrong preshared key carries nothing, the right one does again" preshared_key
check "20 MB to the kernel, equal by SHA-256, over IPv4" send_file 10.7.1.2
check "20 MB from the kernel, equal by SHA-256, over IPv4" receive_file 10.7.1.2
check "20 MB to the kernel, equal by SHA-256, over IPv6 with a preshared key" send_file fd07:2::2
check "20 MB from the kernel, equal by SHA-256, over IPv6 with a preshared key" receive_file fd07:2::2
check "our port changes: the kernel follows within a ping" we_roam
check "we move to IPv6 outside: the kernel follows within a ping" we_roam_to_ipv6
check "the kernel's port changes: we follow within a ping" kernel_roams

# Keys are renewed by the side that has initiated, with the first packet after 120 s.
before=("$(handshake_here "$called")" "$(handshake_there wg1)" "$(handshake_here "$calling")" "$(handshake_there wg2)")
ip netns exec "$namespace" ping -q -i 0.5 -c 250 -W 2 10.7.1.2 >"$work/pings.called" 2>&1 &
started+=("$!")
ip netns exec "$namespace" ping -q -i 0.5 -c 250 -W 2 10.7.2.2 >"$work/pings.calling" 2>&1 &
started+=("$!")
wait "${started[-1]}" "${started[-2]}" || true
# renewed WHAT INDEX HERE THERE: no ping was lost, and both sides have keys made after the time of before.
renewed() {
    cat "$work/pings.$1"
    grep -q ' 250 received, 0% packet loss' "$work/pings.$1" &&
        [ "$(handshake_here "$3")" -ge $((before[$2] + 119)) ] && [ "$(handshake_there "$4")" -ge $((before[$2 + 1] + 119)) ]
}
check "the kernel renews its keys after 120 s, and no ping of 250 is lost" renewed called 0 "$called" wg1
check "we renew our keys after 120 s, and no ping of 250 is lost" renewed calling 2 "$calling" wg2

conclude
