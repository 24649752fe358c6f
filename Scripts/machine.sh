# Sourced after common.sh by the scripts that try us with a kernel of their own: boots a Debian kernel in QEMU, without
# acceleration, with the modules and programs that a script packs. A cable joins it to a namespace of this machine.
# shellcheck shell=bash
need_swift
[ "$(uname -m)" = x86_64 ] || fail "needs an x86-64 machine: the kernel that it boots is built for one."
[ "$(id -u)" = 0 ] || fail "needs root for network namespaces and TUN devices. Run: sudo $0"
[ -c /dev/net/tun ] || fail "/dev/net/tun is missing. Load it: modprobe tun"
need_packages "${build_packages[@]}" "${run_packages[@]}" "${machine_packages[@]}"

work=$(mktemp -d)
namespace=phmachine-$$
started=()
failures=0
mkdir -p "$work"/guest/{bin,dev,modules,proc,run,sys,tmp}
clean_up() {
    local pid
    for pid in "${started[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
    for pid in "${started[@]}"; do wait "$pid" 2>/dev/null || true; done
    ip netns del "$namespace" 2>/dev/null || true
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM
# A function in the background would be a shell of its own, and a signal would end that alone: there, the command is written out.
here() { ip netns exec "$namespace" "$@"; }

# need_kernel NAME: unpacks the newest kernel of a flavour; the package of this name is empty and depends on it.
need_kernel() {
    kernel=$(apt-cache depends "$1" | awk '$1 == "Depends:" && $2 ~ /^linux-image/ {print $2; exit}')
    [ -n "$kernel" ] || fail "the package $1 is not known. Run: apt-get update"
    need_unpacked "$kernel"
}

# pack_module NAME [PARAMETER...]: puts a module, after those that it depends on, into the guest and its list; one that is
# built in is passed over.
pack_module() {
    local name=$1 file dependency
    shift
    file=$(find "$PWD/.build/test-packages/$kernel/lib/modules" -name "${name//[-_]/[-_]}.ko")
    if [ -z "$file" ] || [ -e "$work/guest/modules/$(basename "$file")" ]; then return; fi
    for dependency in $(tr '\0' '\n' <"$file" | sed -n 's/^depends=//p' | tr ',' ' '); do pack_module "$dependency"; done
    cp "$file" "$work/guest/modules/"
    echo "$(basename "$file") $*" >>"$work/guest/modules/list"
}

# pack_program PATH...: puts programs into the guest with the libraries that they name, those beside them beside them.
pack_program() {
    local program library folder
    for program in "$@"; do
        for library in "$program" $(ldd "$program" | grep -o '/[^ ]*'); do
            folder=$(dirname "$library")
            [ "$folder" != "$(dirname "$program")" ] || folder=/bin
            [ ! -e "$work/guest$folder/$(basename "$library")" ] || continue
            mkdir -p "$work/guest$folder"
            strip -g -o "$work/guest$folder/$(basename "$library")" "$(realpath "$library")"
        done
    done
}

# boot_machine MEGABYTES: boots the guest, with busybox, and waits until it answers.
# 192.0.2.1 and 2001:db8::1 are here, .2 and ::2 there.
boot_machine() {
    local release='' name
    cp "$(command -v busybox)" "$work/guest/bin/busybox"
    for name in $(busybox --list); do
        [ -e "$work/guest/bin/$name" ] || ln -s busybox "$work/guest/bin/$name"
    done
    cat >"$work/guest/init" <<'INIT'
#!/bin/sh
export PATH=/bin
mount -t devtmpfs none /dev
mount -t proc none /proc
mount -t sysfs none /sys
while read -r module; do insmod /modules/$module; done </modules/list
ip link set lo up
ip address add 192.0.2.2/24 dev eth0
ip -6 address add 2001:db8::2/64 dev eth0
ip link set eth0 up
# Every connection is a shell.
nc -ll -p 23 -e sh
INIT
    chmod +x "$work/guest/init"
    (cd "$work/guest" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initramfs"

    ip netns add "$namespace"
    here ip link set lo up
    here ip tuntap add cable mode tap
    here ip address add 192.0.2.1/24 dev cable
    here ip address add 2001:db8::1/64 dev cable nodad
    here ip link set cable up
    ip netns exec "$namespace" qemu-system-x86_64 -accel tcg -cpu max -m "$1" -nodefaults -no-reboot -display none \
        -serial "file:$work/console" -kernel "$PWD/.build/test-packages/$kernel/boot/vmlinuz-${kernel#linux-image-}" \
        -initrd "$work/initramfs" -append "console=ttyS0 quiet panic=-1" \
        -netdev tap,id=cable,ifname=cable,script=no,downscript=no -device virtio-net-pci,netdev=cable,romfile= \
        >"$work/qemu" 2>&1 &
    started+=("$!")
    for _ in $(seq 60); do
        release=$(there 'uname -r') && break
        kill -0 "${started[0]}" 2>/dev/null || break
        sleep 1
    done
    if [ -z "$release" ]; then
        cat "$work/qemu" "$work/console" 2>/dev/null | tail -n 20
        fail "the machine did not come up; the end of its output stands above"
    fi
    say "Linux $release is up after $SECONDS s"
}

# there COMMAND: runs a line of shell on the machine, shows its output, and has its status.
there() {
    local output
    # shellcheck disable=SC2016 # The inner shell expands these.
    output=$(here timeout 60 bash -c 'exec 3<>/dev/tcp/192.0.2.2/23 && printf "%s\n" "{" "$1" "} 2>&1; echo \$?; exit" >&3 && cat <&3' _ "$1" \
        2>/dev/null) || return 255
    [ "$output" = "${output%$'\n'*}" ] || printf '%s\n' "${output%$'\n'*}"
    return "${output##*$'\n'}"
}

# check TEXT COMMAND...: runs a check and prints one line, with its output where it fails.
check() {
    local text=$1 output
    shift
    if output=$("$@" 2>&1); then
        echo "ok    $text"
    else
        failures=$((failures + 1))
        echo "FAIL  $text"
        printf '%s\n' "$output" | sed 's/^/      /'
    fi
}

# conclude: says how many checks have failed, and ends with that status.
conclude() {
    say "$(there 'uname -sr'): $failures checks failed, after $SECONDS s"
    exit $((failures > 0))
}
