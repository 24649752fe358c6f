#define _GNU_SOURCE
#include "ctun_thread.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct start {
    char name[16];
    void (*body)(void *);
    void *argument;
};

// The first version of the kernel's struct sched_attr, which linux/sched/types.h cannot give beside pthread.h.
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

// Packets come in bursts, and these threads have the kernel's queues before them. With a longer slice their deadline is
// later than that of the programs the packets are for, which then run as soon as they wake and before their sockets
// overflow. Linux heeds it for ordinary threads from 6.12 on; where it does not, nothing changes.
static void lengthen_slice(void) {
    enum { SLICE = 4000000 };  // nanoseconds
    struct attributes attributes = {.size = sizeof attributes};
    if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) return;
    attributes.runtime = SLICE;
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

static void *run(void *raw) {
    struct start start = *(struct start *)raw;
    free(raw);
    pthread_setname_np(pthread_self(), start.name);
    lengthen_slice();
    start.body(start.argument);
    return NULL;
}

int ctun_thread_start(const char *name, void (*body)(void *), void *argument, uint64_t *thread) {
    struct start *start = calloc(1, sizeof *start);
    if (!start) return -12;
    for (size_t index = 0; name[index] && index < sizeof start->name - 1; index++) start->name[index] = name[index];
    start->body = body;
    start->argument = argument;

    // A thread inherits the signal mask of its maker.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t made;
    int status = pthread_create(&made, NULL, run, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (status != 0) {
        free(start);
        return -status;
    }
    *thread = (uint64_t)made;
    return 0;
}

void ctun_thread_join(uint64_t thread) { pthread_join((pthread_t)thread, NULL); }

void ctun_thread_detach(uint64_t thread) { pthread_detach((pthread_t)thread); }

int ctun_processor_count(void) {
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return 1;  // more than 1024 processors
    int count = CPU_COUNT(&allowed);
    return count > 0 ? count : 1;
}
