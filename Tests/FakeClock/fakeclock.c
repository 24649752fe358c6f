// A wall clock that a test moves while a program runs: CLOCK_REALTIME plus the seconds that the file FAKE_CLOCK_FILE holds.
// libfaketime changes the environment before main, and the Swift runtime then finds no arguments.
#define _GNU_SOURCE
#include "fakeclock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long offset(void) {
    const char *path = getenv("FAKE_CLOCK_FILE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    char text[24] = {0};
    if (file < 0)
        return 0;
    if (read(file, text, sizeof text - 1) < 0)
        text[0] = 0;
    close(file);
    return atol(text);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = (int)syscall(SYS_clock_gettime, clock, time);
    if (result == 0 && clock == CLOCK_REALTIME)
        time->tv_sec += offset();
    return result;
}
