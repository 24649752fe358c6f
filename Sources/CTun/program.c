#define _GNU_SOURCE
#include "ctun_program.h"

#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ctun_process.h"

// Files in memory, not pipes: no program can block us by not reading, or by writing much.
static int memory_with(const char *bytes, size_t length) {
    int file = memfd_create("providerhost", MFD_CLOEXEC);
    if (file < 0) return -errno;
    size_t done = 0;
    while (done < length) {
        ssize_t count = write(file, bytes + done, length - done);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            int error = count < 0 ? -errno : -EIO;
            close(file);
            return error;
        }
        done += (size_t)count;
    }
    if (lseek(file, 0, SEEK_SET) < 0) {
        close(file);
        return -EIO;
    }
    return file;
}

static long now_milliseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Returns whether the process ended before the deadline.
static int wait_for_end(int pidfd, int milliseconds) {
    long deadline = now_milliseconds() + milliseconds;
    while (1) {
        struct pollfd entry = {.fd = pidfd, .events = POLLIN};
        long rest = deadline - now_milliseconds();
        int result = poll(&entry, 1, rest < 0 ? 0 : (int)rest);
        if (result > 0) return 1;
        if (result == 0 || errno != EINTR) return 0;
    }
}

static int run(const char *const *arguments, int input, int output, int milliseconds) {
    struct ctun_process process;
    int result = ctun_spawn_program(arguments, input, output, &process);
    if (result < 0) return result;
    int in_time = wait_for_end(process.pidfd, milliseconds), status = 0;
    if (!in_time) {
        ctun_process_kill(&process);
        // What is killed ends at once, unless the kernel holds it.
        wait_for_end(process.pidfd, 1000);
    }
    int collected = ctun_process_collect(&process, false, &status);
    close(process.pidfd);
    if (!in_time) return -ETIMEDOUT;
    if (collected < 0) return collected;
    return status < 0 ? 256 - status : status;
}

int ctun_run_program(const char *const *arguments, const void *input, size_t input_length, void *output, size_t capacity,
                     size_t *output_length, int milliseconds) {
    *output_length = 0;
    int source = memory_with(input, input_length);
    if (source < 0) return source;
    int sink = memory_with(NULL, 0);
    int result = sink;
    if (sink >= 0) {
        result = run(arguments, source, sink, milliseconds);
        ssize_t count = pread(sink, output, capacity, 0);
        if (count > 0) *output_length = (size_t)count;
        close(sink);
    }
    close(source);
    return result;
}
