// Plain descriptor calls that retry EINTR and return -errno.
#ifndef CTUN_IO_H
#define CTUN_IO_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// read(2); returns the count or -errno.
ssize_t ctun_read(int descriptor, void *_Nonnull buffer, size_t length);

/// write(2); returns the count or -errno.
ssize_t ctun_write(int descriptor, const void *_Nonnull buffer, size_t length);

/// Closes the descriptor; the descriptor is gone whatever the outcome.
void ctun_close(int descriptor);

/// Sets O_NONBLOCK and FD_CLOEXEC; returns 0 or -errno.
int ctun_set_nonblocking(int descriptor);

/// A non-blocking, close-on-exec eventfd; returns the descriptor or -errno.
int ctun_event_create(void);

/// Adds one to the event; a full counter is already signalled, so that is success.
int ctun_event_signal(int descriptor);

/// Takes the event's count, so that the next poll waits; returns 0 or -errno.
int ctun_event_clear(int descriptor);

/// A non-blocking, close-on-exec timer (timerfd) of CLOCK_BOOTTIME; returns the descriptor or -errno.
int ctun_timer_create(void);

/// Makes the timer readable after so many nanoseconds, at once for 0 and less; returns 0 or -errno.
int ctun_timer_set(int descriptor, int64_t nanoseconds);

/// One descriptor of a poll set; `interest` and `ready` are CTUN_READABLE, CTUN_WRITABLE, CTUN_FAILED.
struct ctun_poll_entry {
    int32_t descriptor;
    uint16_t interest;
    uint16_t ready;
};

enum { CTUN_READABLE = 1, CTUN_WRITABLE = 2, CTUN_FAILED = 4, CTUN_POLL_MAXIMUM = 8 };

/// ppoll(2) on at most CTUN_POLL_MAXIMUM entries. A negative timeout waits without end.
/// Returns the number of ready entries, 0 on timeout or on a signal, or -errno.
int ctun_poll(struct ctun_poll_entry *_Nonnull entries, size_t count, int64_t timeout_nanoseconds);

/// A private anonymous mapping without swap reservation, touched lazily; returns NULL and sets *error to -errno on failure.
void *_Nullable ctun_map(size_t length, int *_Nonnull error);

/// Unmaps what `ctun_map` gave.
void ctun_unmap(void *_Nonnull address, size_t length);

/// The text of an errno value, for messages.
const char *_Nonnull ctun_error_text(int error);

#endif
