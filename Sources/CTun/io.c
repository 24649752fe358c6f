#define _GNU_SOURCE
#include "ctun_io.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

ssize_t ctun_read(int descriptor, void *buffer, size_t length) {
    ssize_t count;
    do
        count = read(descriptor, buffer, length);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

ssize_t ctun_write(int descriptor, const void *buffer, size_t length) {
    ssize_t count;
    do
        count = write(descriptor, buffer, length);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

void ctun_close(int descriptor) {
    if (descriptor >= 0)
        close(descriptor);
}

int ctun_set_nonblocking(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    return fcntl(descriptor, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

int ctun_event_create(void) {
    int descriptor = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int ctun_event_signal(int descriptor) {
    uint64_t one = 1;
    ssize_t count = ctun_write(descriptor, &one, sizeof one);
    return count < 0 && count != -EAGAIN ? (int)count : 0;
}

int ctun_event_clear(int descriptor) {
    uint64_t value;
    ssize_t count = ctun_read(descriptor, &value, sizeof value);
    return count < 0 && count != -EAGAIN ? (int)count : 0;
}

int ctun_timer_create(void) {
    int descriptor = timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC);
    return descriptor < 0 ? -errno : descriptor;
}

int ctun_timer_set(int descriptor, int64_t nanoseconds) {
    // A value of zero would turn it off.
    if (nanoseconds < 1)
        nanoseconds = 1;
    struct itimerspec value = {
        .it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000},
    };
    return timerfd_settime(descriptor, 0, &value, NULL) < 0 ? -errno : 0;
}

int ctun_poll(struct ctun_poll_entry *entries, size_t count, int64_t timeout) {
    struct pollfd set[CTUN_POLL_MAXIMUM];
    if (count > CTUN_POLL_MAXIMUM)
        return -EINVAL;
    for (size_t i = 0; i < count; i++) {
        set[i].fd = entries[i].descriptor;
        set[i].events = (entries[i].interest & CTUN_READABLE ? POLLIN : 0) |
                        (entries[i].interest & CTUN_WRITABLE ? POLLOUT : 0);
        set[i].revents = 0;
        entries[i].ready = 0;
    }
    struct timespec span = {.tv_sec = timeout / 1000000000, .tv_nsec = timeout % 1000000000};
    // Programs that share the core may have more to bring: that costs less than a sleep and a wake.
    if (timeout < 0) sched_yield();
    int ready = ppoll(set, count, timeout < 0 ? NULL : &span, NULL);
    if (ready < 0)
        return errno == EINTR ? 0 : -errno;
    for (size_t i = 0; i < count; i++) {
        short events = set[i].revents;
        entries[i].ready = (events & POLLIN ? CTUN_READABLE : 0) | (events & POLLOUT ? CTUN_WRITABLE : 0) |
                           (events & (POLLERR | POLLHUP | POLLNVAL) ? CTUN_FAILED : 0);
    }
    return ready;
}

void *ctun_map(size_t length, int *error) {
    void *address =
        mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *error = address == MAP_FAILED ? -errno : 0;
    return address == MAP_FAILED ? NULL : address;
}

void ctun_unmap(void *address, size_t length) { munmap(address, length); }

const char *ctun_error_text(int error) { return strerrordesc_np(error) ?: "unknown error"; }
