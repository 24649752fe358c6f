#define _GNU_SOURCE
#include "ctun_manager_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

// Of Linux 6.5, younger than the headers of Debian 12.
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

int ctun_lock_file(const char *path) {
    int descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (descriptor < 0) return -errno;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
    int error = errno;
    close(descriptor);
    return -error;
}

static int address_of(const char *path, struct sockaddr_un *address, socklen_t *length) {
    size_t count = strlen(path);
    if (count == 0 || count >= sizeof address->sun_path) return -ENAMETOOLONG;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, count);
    *length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + count + 1);
    return 0;
}

int ctun_listen(const char *path) {
    struct sockaddr_un address;
    socklen_t length;
    int error = address_of(path, &address, &length);
    if (error < 0) return error;
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0) return -errno;
    if (unlink(path) < 0 && errno != ENOENT) error = -errno;
    // The mode comes with bind: a chmod after it would leave a moment with another one.
    mode_t before = umask(S_IXUSR | S_IXGRP | S_IXOTH);
    if (!error && bind(descriptor, (struct sockaddr *)&address, length) < 0) error = -errno;
    umask(before);
    if (!error && listen(descriptor, 4096) < 0) error = -errno;
    if (!error) return descriptor;
    close(descriptor);
    return error;
}

int ctun_accept(int listener, struct ctun_peer *peer) {
    int descriptor;
    do descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) return -errno;
    struct ucred credentials;
    socklen_t length = sizeof credentials;
    if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) < 0) {
        int error = errno;
        close(descriptor);
        return -error;
    }
    peer->user = credentials.uid;
    peer->group = credentials.gid;
    peer->process = credentials.pid;
    return descriptor;
}

long ctun_peer_groups(int socket, gid_t *groups, size_t capacity) {
    socklen_t length = (socklen_t)(capacity * sizeof *groups);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups, &length) < 0 && errno != ERANGE) return -errno;
    return (long)(length / sizeof *groups);
}

int ctun_peer_pidfd(int socket) {
    int descriptor = -1;
    socklen_t length = sizeof descriptor;
    return getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &descriptor, &length) < 0 ? -errno : descriptor;
}

long ctun_stream_receive(int socket, void *buffer, size_t capacity) {
    ssize_t count;
    do count = recv(socket, buffer, capacity, MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

long ctun_stream_send(int socket, const void *bytes, size_t length) {
    ssize_t count;
    do count = send(socket, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

int ctun_notify(const char *path, const char *state) {
    struct sockaddr_un address;
    socklen_t length;
    int error = address_of(path, &address, &length);
    if (error < 0) return error;
    if (address.sun_path[0] == '@') {
        address.sun_path[0] = 0;
        length--;
    }
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -errno;
    size_t count = strlen(state);
    if (sendto(descriptor, state, count, MSG_NOSIGNAL, (struct sockaddr *)&address, length) < 0) error = -errno;
    close(descriptor);
    return error;
}

long ctun_raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return -errno;
    if (limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        if (setrlimit(RLIMIT_NOFILE, &limit) < 0) return -errno;
    }
    return (long)limit.rlim_cur;
}
