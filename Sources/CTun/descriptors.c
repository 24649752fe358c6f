#define _GNU_SOURCE
#include "ctun_descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

int ctun_socketpair(int pair[2]) {
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ? -errno : 0;
}

long ctun_send(int socket, const void *head, size_t head_length, const void *body, size_t body_length,
               const int *descriptors, size_t count) {
    if (count > CTUN_DESCRIPTORS_MAX) return -E2BIG;
    struct iovec parts[2] = {{(void *)head, head_length}, {(void *)body, body_length}};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * CTUN_DESCRIPTORS_MAX)];
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = body_length > 0 ? 2 : 1};
    if (count > 0) {
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * count);
        struct cmsghdr *item = CMSG_FIRSTHDR(&message);
        item->cmsg_level = SOL_SOCKET;
        item->cmsg_type = SCM_RIGHTS;
        item->cmsg_len = CMSG_LEN(sizeof(int) * count);
        memcpy(CMSG_DATA(item), descriptors, sizeof(int) * count);
    }
    ssize_t sent;
    do sent = sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

long ctun_receive(int socket, void *buffer, size_t capacity, struct ctun_ancillary *ancillary) {
    memset(ancillary, 0, sizeof *ancillary);
    struct iovec part = {buffer, capacity};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int) * CTUN_DESCRIPTORS_MAX)];
    } control;
    struct msghdr message;
    ssize_t received;
    do {
        memset(&control, 0, sizeof control);
        message = (struct msghdr){
            .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
        received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    } while (received < 0 && errno == EINTR);
    if (received < 0) return -errno;

    for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
        if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_RIGHTS) continue;
        size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t index = 0; index < count; index++) {
            int descriptor;
            memcpy(&descriptor, CMSG_DATA(item) + index * sizeof(int), sizeof(int));
            if (ancillary->count < CTUN_DESCRIPTORS_MAX) {
                ancillary->descriptors[ancillary->count++] = descriptor;
            } else {
                // CMSG_SPACE rounds up, so one more than asked for may fit.
                close(descriptor);
                ancillary->truncated = 1;
            }
        }
    }
    if (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) ancillary->truncated = 1;
    return received;
}

static const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;

int ctun_sealed_memory(const void *bytes, size_t length) {
    int descriptor = memfd_create("providerhost-message", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return -errno;
    int error = 0;
    for (size_t done = 0; done < length && !error;) {
        ssize_t written = write(descriptor, (const char *)bytes + done, length - done);
        if (written > 0) done += (size_t)written;
        else if (written == 0) error = EIO;
        else if (errno != EINTR) error = errno;
    }
    if (!error && fcntl(descriptor, F_ADD_SEALS, seals) < 0) error = errno;
    if (!error) return descriptor;
    close(descriptor);
    return -error;
}

long ctun_sealed_memory_size(int descriptor) {
    int found = fcntl(descriptor, F_GET_SEALS);
    if (found < 0) return -errno;
    if ((found & seals) != seals) return -EPERM;
    struct stat status;
    return fstat(descriptor, &status) < 0 ? -errno : (long)status.st_size;
}
