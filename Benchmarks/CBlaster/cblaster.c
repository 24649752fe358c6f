#define _GNU_SOURCE
#include "cblaster.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int blaster_open(void) {
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return -errno;
    struct sockaddr_in any = {.sin_family = AF_INET};
    if (bind(descriptor, (struct sockaddr *)&any, sizeof any) < 0) {
        int error = errno;
        close(descriptor);
        return -error;
    }
    return descriptor;
}

int blaster_send(int descriptor, const struct blaster_load *load, uint64_t first, uint32_t count) {
    struct mmsghdr headers[BLASTER_BATCH];
    struct iovec vectors[BLASTER_BATCH][2];
    uint64_t numbers[BLASTER_BATCH];
    _Alignas(struct cmsghdr) uint8_t control[BLASTER_BATCH][CMSG_SPACE(sizeof(struct in_pktinfo))];
    struct sockaddr_in target = {
        .sin_family = AF_INET, .sin_port = htons(load->port), .sin_addr.s_addr = htonl(load->target)};
    if (count > BLASTER_BATCH)
        count = BLASTER_BATCH;
    memset(control, 0, sizeof control);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t *bounds = load->bounds + (first + i) % load->count;
        numbers[i] = first + i;
        vectors[i][0] = (struct iovec){.iov_base = &numbers[i], .iov_len = load->is_numbered ? sizeof numbers[i] : 0};
        vectors[i][1] = (struct iovec){.iov_base = (void *)(load->bytes + bounds[0]), .iov_len = bounds[1] - bounds[0]};
        struct msghdr *header = &headers[i].msg_hdr;
        *header = (struct msghdr){
            .msg_name = &target, .msg_namelen = sizeof target, .msg_iov = vectors[i], .msg_iovlen = 2};
        if (load->sources == 0)
            continue;
        header->msg_control = control[i];
        header->msg_controllen = sizeof control[i];
        struct cmsghdr *part = CMSG_FIRSTHDR(header);
        part->cmsg_level = IPPROTO_IP;
        part->cmsg_type = IP_PKTINFO;
        part->cmsg_len = CMSG_LEN(sizeof(struct in_pktinfo));
        uint32_t source = load->source + (uint32_t)((first + i) % load->sources);
        struct in_pktinfo info = {.ipi_spec_dst.s_addr = htonl(source)};
        memcpy(CMSG_DATA(part), &info, sizeof info);
    }
    int sent;
    do
        sent = sendmmsg(descriptor, headers, count, 0);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

int blaster_receive(int descriptor, void *bytes, size_t length, int milliseconds) {
    struct pollfd entry = {.fd = descriptor, .events = POLLIN};
    if (poll(&entry, 1, milliseconds) <= 0)
        return -EAGAIN;
    ssize_t count = recv(descriptor, bytes, length, MSG_DONTWAIT);
    return count < 0 ? -errno : (int)count;
}
