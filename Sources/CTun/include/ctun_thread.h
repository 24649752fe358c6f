// Threads with a name and every signal blocked, which Swift's runtime does not offer.
#ifndef CTUN_THREAD_H
#define CTUN_THREAD_H

#include <stdint.h>

/// Starts `body(argument)` on a thread named `name` (at most 15 bytes are kept); stores its handle. Returns 0 or -errno.
int ctun_thread_start(const char *_Nonnull name, void (*_Nonnull body)(void *_Nullable), void *_Nullable argument,
                      uint64_t *_Nonnull thread);

/// Waits for the end of the thread; once per thread.
void ctun_thread_join(uint64_t thread);

/// Lets the thread free itself when it ends; instead of joining it.
void ctun_thread_detach(uint64_t thread);

/// The processors that this process may run on, at least 1.
int ctun_processor_count(void);

#endif
