#define _GNU_SOURCE
#include "ctun_thread.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct start {
    char name[16];
    void (*body)(void *);
    void *argument;
};

static void *run(void *raw) {
    struct start start = *(struct start *)raw;
    free(raw);
    pthread_setname_np(pthread_self(), start.name);
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
