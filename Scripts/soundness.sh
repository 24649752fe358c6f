#!/usr/bin/env bash
# The rules of Docs/design.md that a compiler does not check. Each finding is one line; any finding fails the run.
source "$(dirname "$0")/common.sh"
findings=0
finding() {
    printf 'soundness: %s\n' "$*"
    findings=$((findings + 1))
}
swift_files() { git ls-files -co --exclude-standard -- "$@" | grep '\.swift$' || true; }

# 1. Arrows. MODULE -> what it may import. Nothing else is allowed.
declare -A arrows=(
    [ProviderKit]="CProviderStamp Synchronization"
    [ProviderTestKit]="ProviderKit Synchronization"
    [DNS]=" "
    [WireGuard]="CSodium CBlake2"
    [SettingsPush]="ProviderKit WireGuard"
    [Session]="ProviderKit"
    [OnDemand]="ProviderKit"
    [PacketPath]="CTun Glibc Synchronization"
    [SQLite]="CSQLite Glibc"
    [GatewayRegistry]="ProviderKit WireGuard SettingsPush SQLite Glibc"
    [SystemStore]="ProviderKit SQLite CSodium COpenSSL Glibc Synchronization Foundation FoundationEssentials"
    [Netlink]="CMnl Glibc"
    [NetworkSettings]="ProviderKit Netlink CTun CSystemd Glibc Synchronization"
    [Control]="ProviderKit Glibc Dispatch Synchronization Foundation FoundationEssentials"
    [HostRuntime]="ProviderKit DNS Session OnDemand PacketPath Netlink NetworkSettings SystemStore Control CTun Glibc Dispatch Synchronization Foundation FoundationEssentials"
    [ProviderHost]="HostRuntime Control GatewayRegistry SettingsPush WireGuard ProviderKit Glibc Dispatch Synchronization Foundation FoundationEssentials"
    [WireGuardProvider]="ProviderKit DNS WireGuard SettingsPush PacketPath Glibc Synchronization"
    [GatewayProvider]="ProviderKit WireGuard SettingsPush GatewayRegistry PacketPath WireGuardProvider Glibc Synchronization"
    [LoopbackProvider]="ProviderKit"
)
declare -A folders=(
    [ProviderKit]=Sources/ProviderKit/Sources/ProviderKit
    [ProviderTestKit]=Sources/ProviderTestKit/Sources/ProviderTestKit
    [WireGuardProvider]=Sources/Providers/WireGuardProvider
    [GatewayProvider]=Sources/Providers/GatewayProvider
    [LoopbackProvider]=Sources/Providers/LoopbackProvider
)
for module in "${!arrows[@]}"; do
    folder=${folders[$module]:-Sources/$module}
    while IFS=: read -r file line text; do
        [ -n "$file" ] || continue
        imported=$(sed -E 's/^(@[a-zA-Z_]+ )*((public|package|internal|fileprivate|private) )?import ((struct|class|enum|func|protocol) )?//; s/[. ].*//' <<<"$text")
        grep -qw -- "$imported" <<<"${arrows[$module]}" ||
            finding "$file:$line: $module may not import $imported (it may: ${arrows[$module]})"
    done < <(swift_files "$folder" | xargs -r grep -HnE '^(@[a-zA-Z_]+ )*((public|package|internal|fileprivate|private) )?import ')
done
for folder in Sources/*/ Sources/Providers/*/; do
    name=$(basename "$folder")
    case "$name" in C* | Providers | ProviderKit) continue ;; esac
    [ -n "${arrows[$name]:-}" ] || finding "$folder: a module without arrows: add it to DESIGN and to this script"
done

# 2. Unsafe code stands in named files only.
while read -r file; do
    case "$file" in *+Unsafe.swift) continue ;; esac
    grep -qxF "$file" Scripts/unsafe-files.txt || finding "$file: unsafe code outside the named files (Scripts/unsafe-files.txt)"
done < <(swift_files Sources | xargs -r grep -lE '(^|[^A-Za-z@])unsafe |Unsafe(Mutable)?(Raw)?(Buffer)?Pointer|@unchecked Sendable|nonisolated\(unsafe\)' || true)
while read -r file; do
    [ -f "$file" ] || finding "Scripts/unsafe-files.txt: $file is gone"
done <Scripts/unsafe-files.txt
while IFS=: read -r file line _; do
    [ -n "$file" ] || continue
    sed -n "$((line > 8 ? line - 8 : 1)),${line}p" "$file" | grep -q 'SAFETY:' ||
        finding "$file:$line: @unchecked Sendable without a SAFETY: paragraph"
done < <(swift_files Sources | xargs -r grep -HnE '@unchecked Sendable' | grep -v '///' || true)

# 3. Format.
mapfile -t files < <(swift_files Sources Tests Benchmarks Package.swift)
lint=$(swift format lint "${files[@]}" 2>&1) || true
[ -z "$lint" ] || finding "swift format lint:"$'\n'"$lint"

# 4. No leftovers.
while IFS= read -r row; do finding "$row: unfinished"; done < <(
    git grep -nwE 'TODO|FIXME|XXX' -- Sources Tests Benchmarks Scripts Docs README.md ':!Scripts/soundness.sh' || true)

# 5. Link set of the last debug build: one ProviderKit, and no Foundation in our provider modules.
build=.build/debug
for binary in providerhost libWireGuardProvider.so libGatewayProvider.so libLoopbackProvider.so; do
    [ -e "$build/$binary" ] || { finding "$build/$binary is missing: build first"; continue; }
    copies=$(ldd "$build/$binary" | grep -c 'libProviderKit') || true
    [ "$copies" = 1 ] || finding "$binary links $copies copies of ProviderKit, not one"
    ! nm -D --defined-only "$build/$binary" | grep -qF 's11ProviderKit10PacketFlowMp' ||
        finding "$binary has a copy of ProviderKit linked into it"
done
for module in libWireGuardProvider.so libGatewayProvider.so libLoopbackProvider.so; do
    ! ldd "$build/$module" | grep -q 'libFoundation' || finding "$module links Foundation"
done

[ "$findings" = 0 ] || fail "$findings finding(s)"
echo "soundness: no finding"
