// What a worker gives up before it loads a module. Call it while the process has one thread: capset changes only the
// calling one.
#ifndef CTUN_SANDBOX_H
#define CTUN_SANDBOX_H

/// The steps, so that a failure can be named; `CTUN_SANDBOX_DONE` is none.
enum ctun_sandbox_step {
    CTUN_SANDBOX_DONE = 0,
    CTUN_SANDBOX_NO_NEW_PRIVILEGES,
    CTUN_SANDBOX_AMBIENT,
    CTUN_SANDBOX_BOUNDING,
    CTUN_SANDBOX_SECUREBITS,
    CTUN_SANDBOX_CAPABILITIES,
    CTUN_SANDBOX_CORE,
    CTUN_SANDBOX_DUMPABLE,
};

/// Drops every capability and the ways back to one, core dumps and being traced; sets umask 077.
/// Stores the step that failed. Returns 0 or -errno.
int ctun_sandbox_enter(enum ctun_sandbox_step *_Nonnull step);

/// Looks whether all of it is in force. Stores the first step that is not. Returns 0, -EPERM when it is not in force,
/// or another -errno when that cannot be told.
int ctun_sandbox_verify(enum ctun_sandbox_step *_Nonnull step);

/// The number of threads of this process, or -errno.
int ctun_thread_count(void);

/// Ignores the signals that a terminal or an init system sends to a whole group: they are the manager's to handle.
void ctun_ignore_group_signals(void);

#endif
