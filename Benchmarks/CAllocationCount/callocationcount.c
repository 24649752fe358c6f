#define _GNU_SOURCE
#include "callocationcount.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

static _Thread_local struct allocation_counts counts;

// The sanitizers bring an allocator of their own, which must stay: allocations are then not counted.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define COUNTS_ALLOCATIONS 0
#else
#define COUNTS_ALLOCATIONS 1

// The executable's definitions stand before glibc's, for every library of the process.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
    counts.allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    counts.allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
    counts.allocations++;
    return __libc_realloc(pointer, size);
}

void *memalign(size_t alignment, size_t size) {
    counts.allocations++;
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    counts.allocations++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
    counts.allocations++;
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    void *pointer = __libc_memalign(alignment, size);
    if (!pointer)
        return ENOMEM;
    *result = pointer;
    return 0;
}
#endif

// The runtime's entry points for instruments (swift/Runtime/HeapObject.h): pointers that it calls through.
typedef void *(*retain)(void *);
typedef void (*release)(void *);
typedef void *(*retain_many)(void *, uint32_t);
typedef void (*release_many)(void *, uint32_t);
static retain original_retain;
static release original_release;
static retain_many original_retain_many;
static release_many original_release_many;
static bool *hooks_enabled;

static void *counting_retain(void *object) {
    counts.references++;
    return original_retain(object);
}

static void counting_release(void *object) {
    counts.references++;
    original_release(object);
}

static void *counting_retain_many(void *object, uint32_t count) {
    counts.references++;
    return original_retain_many(object, count);
}

static void counting_release_many(void *object, uint32_t count) {
    counts.references++;
    original_release_many(object, count);
}

bool allocation_count_install(void) {
    if (!COUNTS_ALLOCATIONS)
        return false;
    retain *retain_hook = dlsym(RTLD_DEFAULT, "_swift_retain");
    release *release_hook = dlsym(RTLD_DEFAULT, "_swift_release");
    retain_many *retain_many_hook = dlsym(RTLD_DEFAULT, "_swift_retain_n");
    release_many *release_many_hook = dlsym(RTLD_DEFAULT, "_swift_release_n");
    hooks_enabled =
        dlsym(RTLD_DEFAULT, "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly");
    if (!hooks_enabled || !retain_hook || !release_hook || !retain_many_hook || !release_many_hook)
        return false;
    original_retain = *retain_hook;
    original_release = *release_hook;
    original_retain_many = *retain_many_hook;
    original_release_many = *release_many_hook;
    *retain_hook = counting_retain;
    *release_hook = counting_release;
    *retain_many_hook = counting_retain_many;
    *release_many_hook = counting_release_many;
    return true;
}

void allocation_count_start(void) {
    counts = (struct allocation_counts){0};
    *hooks_enabled = true;
}

struct allocation_counts allocation_count_stop(void) {
    *hooks_enabled = false;
    return counts;
}
