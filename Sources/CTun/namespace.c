#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "ctun_namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

static const char own_namespace[] = "/proc/thread-self/ns/net";

/// Makes the folder a mount that hands mounts on, so that other mount namespaces see the namespaces in it (ip-netns(8)).
static int share_folder(const char *folder) {
    if (mkdir(folder, 0755) != 0 && errno != EEXIST) return -errno;
    for (bool is_mount = false;; is_mount = true) {
        if (mount("", folder, "none", MS_SHARED | MS_REC, NULL) == 0) return 0;
        if (errno != EINVAL || is_mount) return -errno;
        if (mount(folder, folder, "none", MS_BIND | MS_REC, NULL) != 0) return -errno;
    }
}

struct making {
    const char *path;
    int result;
};

/// On a thread of its own, which ends with this: the caller's never leaves its namespace.
static void *make_and_mount(void *context) {
    struct making *making = context;
    if (unshare(CLONE_NEWNET) != 0 || mount(own_namespace, making->path, "none", MS_BIND, NULL) != 0) {
        making->result = -errno;
    }
    return NULL;
}

int ctun_namespace_make(const char *folder, const char *path) {
    int result = share_folder(folder);
    if (result < 0) return result;
    int file = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
    if (file < 0) return -errno;
    close(file);
    struct making making = {.path = path, .result = 0};
    pthread_t thread;
    int failure = pthread_create(&thread, NULL, make_and_mount, &making);
    if (failure == 0) {
        pthread_join(thread, NULL);
        failure = -making.result;
    }
    if (failure != 0) unlink(path);
    return -failure;
}

int ctun_namespace_remove(const char *path) {
    // EINVAL: the mount was in another mount namespace, which is gone, and the file alone is left.
    if (umount2(path, MNT_DETACH) != 0 && errno != EINVAL && errno != ENOENT) return -errno;
    return unlink(path) == 0 || errno == ENOENT ? 0 : -errno;
}

int ctun_namespace_enter(int descriptor) {
    int home = open(own_namespace, O_RDONLY | O_CLOEXEC);
    if (home < 0) return -errno;
    if (setns(descriptor, CLONE_NEWNET) != 0) {
        int result = -errno;
        close(home);
        return result;
    }
    return home;
}

void ctun_namespace_leave(int home) {
    if (setns(home, CLONE_NEWNET) != 0) abort();
    close(home);
}
