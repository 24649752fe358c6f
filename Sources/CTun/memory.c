#include "ctun_memory.h"

#include <malloc.h>

void ctun_give_large_memory_back(void) {
    // The defaults; setting them keeps glibc from raising them with the size of each large piece that is freed, and ends what
    // it raised before.
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
    mallopt(M_TRIM_THRESHOLD, 128 << 10);
}
