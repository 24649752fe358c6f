#!/bin/sh
# Fuzzes the parsers of outside bytes: Scripts/fuzz.sh [seconds per target, 60] [target...]
#
# Starts from the stored corpus in Tests/Fuzz/Corpus and leaves it alone: what a run finds is kept in .build/fuzz/found,
# an input that crashes in .build/fuzz/crashes. Copy one into the stored corpus, and the tests replay it from then on.
set -eu
cd "$(dirname "$0")/.."

seconds=60
case "${1:-}" in
    '' | *[!0-9]*) ;;
    *) seconds=$1 && shift ;;
esac
[ $# -gt 0 ] || set -- $(ls Tests/Fuzz/Corpus)
for target in "$@"; do
    [ -d "Tests/Fuzz/Corpus/$target" ] || {
        echo "fuzz.sh: there is no target '$target'; expected one of: $(ls Tests/Fuzz/Corpus | tr '\n' ' ')" >&2
        exit 2
    }
done
command -v swift >/dev/null || {
    echo "fuzz.sh: swift is not in PATH; install Swift 6.3 from https://www.swift.org/install/linux" >&2
    exit 2
}

export PROVIDERHOST_FUZZ=1
# Optimised: every trap stays, and several times the inputs run. --sanitize fuzzer leaves `main` to libFuzzer. ASan comes
# in the last -sanitize, the only one that swiftc heeds: SwiftPM hands out two --sanitize in any order, and coverage
# would come and go from build to build.
build() {
    swift build -c release --scratch-path .build/fuzz/build --product Fuzz --sanitize fuzzer \
        -Xswiftc -sanitize=fuzzer,address -Xcc -fsanitize=address -Xswiftc -enable-testing "$@"
}
mkdir -p .build/fuzz/crashes
build >.build/fuzz/build.log 2>&1 || {
    grep -v 'Cannot export local symbol' .build/fuzz/build.log >&2
    echo "fuzz.sh: the driver does not build" >&2
    exit 1
}
driver=$(build --show-bin-path)/Fuzz

status=0
for target in "$@"; do
    found=.build/fuzz/found/$target
    log=.build/fuzz/$target.log
    mkdir -p "$found"
    # Leaks are not looked for: libFuzzer would count the runtime's caches.
    if FUZZ_TARGET=$target ASAN_OPTIONS=detect_leaks=0 "$driver" -max_total_time="$seconds" -timeout=10 \
        -max_len=65536 -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix=".build/fuzz/crashes/$target-" \
        "$found" "Tests/Fuzz/Corpus/$target" >"$log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
        echo "$target: $runs inputs in $seconds s, $edges edges reached, none failed"
    else
        tail -n 30 "$log" >&2
        echo "$target: FAILED; the whole log is $log, the input is in .build/fuzz/crashes" >&2
        status=1
    fi
done
exit $status
