#define _GNU_SOURCE
#include "ctun_control.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// Clients that wait to be accepted: more than any script starts at once.
enum { BACKLOG = 64 };

static int name(const char *path, struct sockaddr_un *address) {
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    if (strlen(path) >= sizeof address->sun_path) return -ENAMETOOLONG;
    strcpy(address->sun_path, path);
    return 0;
}

static int fail(int descriptor) {
    int error = -errno;
    close(descriptor);
    return error;
}

int ctun_control_listen(const char *path) {
    struct sockaddr_un address;
    int result = name(path, &address);
    if (result < 0) return result;
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listener < 0) return -errno;
    // The file gets the mode of the socket, so it is never open to others, and the umask of the process is left alone.
    if (fchmod(listener, S_IRUSR | S_IWUSR) < 0) return fail(listener);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) < 0) return fail(listener);
    if (listen(listener, BACKLOG) < 0) {
        int error = fail(listener);
        unlink(path);
        return error;
    }
    return listener;
}

static int connect_to(const char *path, int flags) {
    struct sockaddr_un address;
    int result = name(path, &address);
    if (result < 0) return result;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (descriptor < 0) return -errno;
    if (connect(descriptor, (struct sockaddr *)&address, sizeof address) < 0) return fail(descriptor);
    return descriptor;
}

int ctun_control_connect(const char *path) { return connect_to(path, 0); }

int ctun_control_probe(const char *path) {
    int descriptor = connect_to(path, SOCK_NONBLOCK);
    // It listens, and is busy.
    if (descriptor == -EAGAIN) return 0;
    if (descriptor < 0) return descriptor;
    close(descriptor);
    return 0;
}

int ctun_control_adopt(int listener) {
    int value, domain;
    socklen_t size = sizeof value;
    if (getsockopt(listener, SOL_SOCKET, SO_ACCEPTCONN, &value, &size) < 0) return -errno;
    size = sizeof domain;
    if (getsockopt(listener, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0) return -errno;
    if (!value || domain != AF_UNIX) return -EINVAL;
    int flags = fcntl(listener, F_GETFL);
    if (flags < 0 || fcntl(listener, F_SETFL, flags | O_NONBLOCK) < 0) return -errno;
    return fcntl(listener, F_SETFD, FD_CLOEXEC) < 0 ? -errno : 0;
}

int ctun_control_accept(int listener) {
    int descriptor;
    do descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    while (descriptor < 0 && (errno == EINTR || errno == ECONNABORTED));
    return descriptor < 0 ? -errno : descriptor;
}

int ctun_file_identify(const char *path, struct ctun_file_identity *identity) {
    struct stat status;
    if (lstat(path, &status) < 0) return -errno;
    identity->device = status.st_dev;
    identity->inode = status.st_ino;
    return 0;
}

int ctun_file_watch(const char *path) {
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch < 0) return -errno;
    // The socket keeps its inode alive, so that a removal is no more than a change of the count of its names.
    if (inotify_add_watch(watch, path, IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF) < 0) return fail(watch);
    return watch;
}

void ctun_file_watch_clear(int watch) {
    char buffer[4096];
    while (read(watch, buffer, sizeof buffer) > 0) {}
}

int ctun_make_directory(const char *path) {
    return mkdir(path, S_IRWXU | S_IRGRP | S_IXGRP | S_IROTH | S_IXOTH) < 0 && errno != EEXIST ? -errno : 0;
}
