// Processes of the manager: made with a pidfd, so that a number that was used again can never be meant.
// Every function returns 0 or -errno unless it says otherwise.
#ifndef CTUN_PROCESS_H
#define CTUN_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct ctun_process {
    pid_t pid;
    /// Readable once the process has ended; close-on-exec, the caller's to close.
    int pidfd;
};

/// The descriptor that a worker finds its channel on.
enum { CTUN_WORKER_CHANNEL = 3 };

/// Runs `path worker --channel-fd 3` with `channel` as descriptor 3.
///
/// Like a shell's, the process has no other descriptor than 0 (/dev/null), 1 and 2 (both our standard error), an empty
/// signal mask, and a session of its own, so that no terminal signals it; it is killed when the calling thread ends.
int ctun_spawn_worker(const char *_Nonnull path, int channel, struct ctun_process *_Nonnull process);

/// Runs `/bin/sh -c command`.
int ctun_spawn_shell(const char *_Nonnull command, struct ctun_process *_Nonnull process);

/// Runs the program `arguments[0]`, a path, with a fixed environment, its standard input from `input` and both of its
/// outputs to `output`.
int ctun_spawn_program(const char *_Nullable const *_Nonnull arguments, int input, int output,
                       struct ctun_process *_Nonnull process);

/// Runs `path` in a session of its own, to outlive its maker. Standard input is /dev/null, and so are the output streams
/// unless `keeps_output`; of all other descriptors it has only those that are `kept`. To be called before the process has a
/// second thread. Stores the process.
int ctun_spawn_service(const char *_Nonnull path, const char *_Nullable const arguments[_Nonnull], bool keeps_output,
                       const int *_Nonnull kept, size_t count, pid_t *_Nonnull pid);

/// Waits for a process to end; returns its exit status, 128 and the signal that killed it, or -errno.
int ctun_wait_for_exit(pid_t pid);

/// Kills the process and what it started, as far as that stayed in its process group. Not after it was collected: its
/// number may be another's then.
int ctun_process_kill(const struct ctun_process *_Nonnull process);

/// Collects a process that has ended: stores its exit status, or minus the signal that killed it. `with_group` kills what
/// is left of its process group first.
/// Returns 1 when it has ended, 0 while it runs, or -errno.
int ctun_process_collect(const struct ctun_process *_Nonnull process, bool with_group, int *_Nonnull status);

/// Names this process after the program in its first argument.
void ctun_take_name(void);

/// Whether this process ignores a signal: 1 or 0.
int ctun_is_ignored(int signal);

#endif
