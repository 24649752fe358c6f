// The allocator of this process.
#ifndef CTUN_MEMORY_H
#define CTUN_MEMORY_H

/// Has the system take back each piece of memory of 128 KiB and more as soon as it is freed.
void ctun_give_large_memory_back(void);

#endif
