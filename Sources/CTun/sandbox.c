#define _GNU_SOURCE
#include "ctun_sandbox.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Beyond every capability that exists; the kernel says EINVAL for those that it does not know.
enum { LAST_CAPABILITY = 63 };

struct capabilities {
    struct __user_cap_header_struct header;
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
};

static int read_capabilities(struct capabilities *capabilities) {
    memset(capabilities, 0, sizeof *capabilities);
    capabilities->header.version = _LINUX_CAPABILITY_VERSION_3;
    return syscall(SYS_capget, &capabilities->header, capabilities->data) < 0 ? -errno : 0;
}

// Without CAP_SETPCAP the bounding set and the securebits stay as they are: nobody may change them, and
// no_new_privs keeps them from ever giving anything.
static int may_change_bounds(void) {
    struct capabilities capabilities;
    if (read_capabilities(&capabilities) < 0) return 0;
    return (capabilities.data[CAP_TO_INDEX(CAP_SETPCAP)].effective & CAP_TO_MASK(CAP_SETPCAP)) != 0;
}

static int drop_bounding_set(void) {
    for (int capability = 0; capability <= LAST_CAPABILITY; capability++) {
        if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0) return errno == EINVAL ? 0 : -errno;
    }
    return 0;
}

static int drop_capabilities(void) {
    struct capabilities none;
    memset(&none, 0, sizeof none);
    none.header.version = _LINUX_CAPABILITY_VERSION_3;
    return syscall(SYS_capset, &none.header, none.data) < 0 ? -errno : 0;
}

int ctun_sandbox_enter(enum ctun_sandbox_step *step) {
    int result = 0;
    umask(S_IRWXG | S_IRWXO);

    *step = CTUN_SANDBOX_NO_NEW_PRIVILEGES;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0) return -errno;
    *step = CTUN_SANDBOX_AMBIENT;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0) return -errno;
    if (may_change_bounds()) {
        *step = CTUN_SANDBOX_BOUNDING;
        if ((result = drop_bounding_set()) < 0) return result;
        // User 0 is a user like any other: no capability by exec or by a change of the user.
        *step = CTUN_SANDBOX_SECUREBITS;
        unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
                             SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED | SECBIT_NO_CAP_AMBIENT_RAISE |
                             SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;
        if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0) return -errno;
    }
    *step = CTUN_SANDBOX_CAPABILITIES;
    if ((result = drop_capabilities()) < 0) return result;

    *step = CTUN_SANDBOX_CORE;
    struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) < 0) return -errno;
    // Last, because a change of the credentials resets it.
    *step = CTUN_SANDBOX_DUMPABLE;
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0) return -errno;

    // The place for Landlock (landlock_restrict_self) and then seccomp (a filter that denies io_uring_setup, mount,
    // bpf, keyctl): both act on the calling thread, need no_new_privs and come after everything above.
    *step = CTUN_SANDBOX_DONE;
    return 0;
}

int ctun_sandbox_verify(enum ctun_sandbox_step *step) {
    *step = CTUN_SANDBOX_NO_NEW_PRIVILEGES;
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1) return -EPERM;

    *step = CTUN_SANDBOX_AMBIENT;
    for (int capability = 0; capability <= LAST_CAPABILITY; capability++) {
        int is_set = prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0);
        if (is_set < 0 && errno == EINVAL) break;
        if (is_set != 0) return -EPERM;
    }
    *step = CTUN_SANDBOX_CAPABILITIES;
    struct capabilities found;
    int result = read_capabilities(&found);
    if (result < 0) return result;
    for (int word = 0; word < _LINUX_CAPABILITY_U32S_3; word++) {
        if (found.data[word].effective | found.data[word].permitted | found.data[word].inheritable) return -EPERM;
    }
    *step = CTUN_SANDBOX_CORE;
    struct rlimit core;
    if (getrlimit(RLIMIT_CORE, &core) < 0) return -errno;
    if (core.rlim_cur != 0 || core.rlim_max != 0) return -EPERM;

    *step = CTUN_SANDBOX_DUMPABLE;
    if (prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0) return -EPERM;
    *step = CTUN_SANDBOX_DONE;
    return 0;
}

int ctun_thread_count(void) {
    // /proc/self/task has one entry per thread, and its link count is that plus two.
    struct stat status;
    return stat("/proc/self/task", &status) < 0 ? -errno : (int)status.st_nlink - 2;
}

void ctun_ignore_group_signals(void) {
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP};
    for (size_t index = 0; index < sizeof signals / sizeof *signals; index++) {
        signal(signals[index], SIG_IGN);
    }
}
