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

/// Counts from now on; false when the Swift runtime has no hooks for its reference counts. Call it once, at the start.
bool allocation_count_install(void);

/// What the calling thread did since its start; differences count.
struct allocation_counts allocation_counts_now(void);

#endif
