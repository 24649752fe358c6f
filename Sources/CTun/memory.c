#include "ctun_memory.h"

#include <malloc.h>

void ctun_give_large_memory_back(void) {
    // The default value; setting it keeps glibc from raising it to the size of the first large piece that is freed.
    mallopt(M_MMAP_THRESHOLD, 128 << 10);
}
