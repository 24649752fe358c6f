// Clocks that a test moves while a program runs. FAKE_CLOCK_FILE names a file with two numbers: the seconds that CLOCK_REALTIME
// is off by, and those that CLOCK_BOOTTIME is, which is how long the machine has slept.
// libfaketime changes the environment before main, and the Swift runtime then finds no arguments.
#define _GNU_SOURCE
#include "fakeclock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct offsets {
    long wall, boot;
};

static struct offsets offsets(void) {
    struct offsets offsets = {0, 0};
    const char *path = getenv("FAKE_CLOCK_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    char text[48] = {0};
    if (file < 0)
        return offsets;
    if (read(file, text, sizeof text - 1) > 0)
        sscanf(text, "%ld %ld", &offsets.wall, &offsets.boot);
    close(file);
    return offsets;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME)
        time->tv_sec += offsets().wall;
    if (result == 0 && clock == CLOCK_BOOTTIME)
        time->tv_sec += offsets().boot;
    return result;
}
