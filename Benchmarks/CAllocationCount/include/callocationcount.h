// Counts heap allocations and Swift reference-count operations of the calling thread.
#ifndef CALLOCATIONCOUNT_H
#define CALLOCATIONCOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct allocation_counts {
    /// Calls of malloc, calloc, realloc, posix_memalign, aligned_alloc and memalign; Swift objects end there too.
    uint64_t allocations;
    /// Swift retains and releases, by whatever entry point.
    uint64_t references;
};

/// Finds the runtime's hooks; false when this Swift runtime has none or under a sanitizer. Call it once, first.
bool allocation_count_install(void);

/// Counts what the calling thread does from now on.
///
/// Until the stop no thread may touch a String: with its hooks on, the runtime of Swift 6.3 takes the bits of a small
/// string for an object.
void allocation_count_start(void);

/// Ends the counting and returns the counts since the start.
struct allocation_counts allocation_count_stop(void);

#endif
