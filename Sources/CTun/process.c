#define _GNU_SOURCE
#include "ctun_process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

// The child of a process with threads may only make system calls, and glibc's wrappers are not all of that kind under
// every sanitizer: hence syscall().
static long set_descriptor(int from, int to) {
    return from == to ? syscall(SYS_fcntl, from, F_SETFD, 0) : syscall(SYS_dup3, from, to, 0);
}

// What a new process is made of; descriptors lie above those that they become in it, or are -1.
struct plan {
    const char *path;
    const char *const *arguments;
    char *const *environment;
    int input;
    int output;
    int channel;
};

static long become(const struct plan *plan, pid_t parent) {
    uint64_t no_signals = 0;
    // struct sigaction of the kernel, all zero: SIG_DFL. Ignored signals would stay ignored beyond execve.
    uint64_t default_action[4] = {0};

    if (syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0) return -errno;
    if (syscall(SYS_getppid) != parent) return -ESRCH;
    if (syscall(SYS_setsid) < 0) return -errno;
    if (plan->output >= 0 && set_descriptor(plan->output, 2) < 0) return -errno;
    if (set_descriptor(plan->input, 0) < 0 || set_descriptor(2, 1) < 0) return -errno;
    if (plan->channel >= 0 && set_descriptor(plan->channel, CTUN_WORKER_CHANNEL) < 0) return -errno;
    unsigned first = plan->channel >= 0 ? CTUN_WORKER_CHANNEL + 1 : CTUN_WORKER_CHANNEL;
    if (syscall(SYS_close_range, first, ~0U, CLOSE_RANGE_CLOEXEC) < 0) return -errno;
    if (syscall(SYS_rt_sigaction, SIGPIPE, default_action, NULL, sizeof no_signals) < 0) return -errno;
    if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, NULL, sizeof no_signals) < 0) return -errno;
    syscall(SYS_execve, plan->path, plan->arguments, plan->environment);
    return -errno;
}

// Above the numbers that the child gives a meaning to.
static int lift(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 10); }

static int spawn(struct plan plan, struct ctun_process *process) {
    int null = plan.input >= 0 ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC), report[2] = {-1, -1}, error = 0;
    const int channel = plan.channel, output = plan.output;
    int written = -1;
    plan.input = lift(plan.input >= 0 ? plan.input : null);
    plan.output = output < 0 ? -1 : lift(output);
    plan.channel = channel < 0 ? -1 : lift(channel);
    if (plan.input < 0 || (output >= 0 && plan.output < 0) || (channel >= 0 && plan.channel < 0) ||
        pipe2(report, O_CLOEXEC) < 0)
        error = -errno;
    if (error == 0 && (written = lift(report[1])) < 0) error = -errno;
    if (error == 0) {
        process->pidfd = -1;
        struct clone_args clone;
        memset(&clone, 0, sizeof clone);
        clone.flags = CLONE_PIDFD;
        clone.pidfd = (uint64_t)(uintptr_t)&process->pidfd;
        clone.exit_signal = SIGCHLD;
        pid_t parent = getpid();
        long pid = syscall(SYS_clone3, &clone, sizeof clone);
        if (pid == 0) {
            int failure = (int)become(&plan, parent);
            syscall(SYS_write, written, &failure, sizeof failure);
            syscall(SYS_exit_group, 127);
            __builtin_unreachable();
        }
        if (pid < 0)
            error = -errno;
        process->pid = (pid_t)pid;
    }
    if (written >= 0) close(written);
    if (report[1] >= 0) close(report[1]);
    if (error == 0) {
        // The pipe closes when execve succeeds.
        ssize_t count;
        do count = read(report[0], &error, sizeof error);
        while (count < 0 && errno == EINTR);
        if (count != sizeof error) error = 0;
        if (error != 0) {
            int status;
            while (waitpid(process->pid, &status, 0) < 0 && errno == EINTR) {}
            close(process->pidfd);
        }
    }
    if (report[0] >= 0) close(report[0]);
    if (plan.channel >= 0) close(plan.channel);
    if (plan.output >= 0) close(plan.output);
    if (plan.input >= 0) close(plan.input);
    if (null >= 0) close(null);
    return error;
}

int ctun_spawn_worker(const char *path, int channel, struct ctun_process *process) {
    const char *const arguments[] = {"providerhost", "worker", "--channel-fd", "3", NULL};
    return spawn((struct plan){path, arguments, environ, -1, -1, channel}, process);
}

int ctun_spawn_shell(const char *command, struct ctun_process *process) {
    const char *const arguments[] = {"sh", "-c", command, NULL};
    return spawn((struct plan){"/bin/sh", arguments, environ, -1, -1, -1}, process);
}

int ctun_spawn_program(const char *const *arguments, int input, int output, struct ctun_process *process) {
    static char *const environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C",
                                        NULL};
    return spawn((struct plan){arguments[0], arguments, environment, input, output, -1}, process);
}

int ctun_spawn_service(const char *path, const char *const arguments[], bool keeps_output, const int *kept, size_t count,
                       pid_t *pid) {
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0) return -errno;
    *pid = fork();
    if (*pid < 0) {
        int error = -errno;
        close(null);
        return error;
    }
    if (*pid == 0) {
        setsid();
        for (int stream = 0; stream <= 2; stream++) {
            if ((stream == 0 || !keeps_output) && dup2(null, stream) < 0) _exit(127);
        }
        // Whoever reads a pipe that leaked to here would wait for its end for as long as the service runs.
        if (syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) < 0) _exit(127);
        for (size_t index = 0; index < count; index++) fcntl(kept[index], F_SETFD, 0);
        execv(path, (char *const *)arguments);
        _exit(127);
    }
    close(null);
    return 0;
}

int ctun_wait_for_exit(pid_t pid) {
    int status;
    pid_t result;
    do result = waitpid(pid, &status, 0);
    while (result < 0 && errno == EINTR);
    if (result < 0) return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int kill_group(pid_t pid) { return kill(-pid, SIGKILL) == 0 || errno == ESRCH ? 0 : -errno; }

int ctun_process_kill(const struct ctun_process *process) {
    if (syscall(SYS_pidfd_send_signal, process->pidfd, SIGKILL, NULL, 0) < 0 && errno != ESRCH) return -errno;
    return kill_group(process->pid);
}

static int ended(int pidfd, siginfo_t *info, int options) {
    memset(info, 0, sizeof *info);
    int result;
    do result = waitid((idtype_t)P_PIDFD, (id_t)pidfd, info, WEXITED | WNOHANG | options);
    while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : info->si_pid != 0;
}

int ctun_process_collect(const struct ctun_process *process, bool with_group, int *status) {
    siginfo_t info;
    int result = ended(process->pidfd, &info, WNOWAIT);
    if (result != 1) return result;
    if (with_group) kill_group(process->pid);
    result = ended(process->pidfd, &info, 0);
    *status = info.si_code == CLD_EXITED ? info.si_status : -info.si_status;
    return result;
}

void ctun_take_name(void) { prctl(PR_SET_NAME, program_invocation_short_name, 0, 0, 0); }

int ctun_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}
