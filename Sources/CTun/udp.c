#define _GNU_SOURCE
#include "ctun_udp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

static int set_int(int descriptor, int level, int name, int value) {
    return setsockopt(descriptor, level, name, &value, sizeof value) < 0 ? -errno : 0;
}

// SO_*BUFFORCE passes the system's limit and needs CAP_NET_ADMIN; without it the plain option takes what is allowed.
static void set_buffer(int descriptor, int force, int plain, int size) {
    if (size > 0 && set_int(descriptor, SOL_SOCKET, force, size) < 0)
        set_int(descriptor, SOL_SOCKET, plain, size);
}

int ctun_udp_family(int descriptor) {
    int domain, type;
    socklen_t size = sizeof domain;
    if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) < 0)
        return -errno;
    size = sizeof type;
    if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) < 0)
        return -errno;
    if (type != SOCK_DGRAM)
        return -EPROTOTYPE;
    return domain == AF_INET ? 4 : domain == AF_INET6 ? 6 : -EAFNOSUPPORT;
}

int ctun_udp_configure(int descriptor, const struct ctun_udp_options *options, bool *receive_offload) {
    int family = ctun_udp_family(descriptor), result;
    if (family < 0)
        return family;
    if (options->mark && (result = ctun_udp_set_mark(descriptor, options->mark)) < 0)
        return result;
    set_buffer(descriptor, SO_RCVBUFFORCE, SO_RCVBUF, options->receive_buffer);
    set_buffer(descriptor, SO_SNDBUFFORCE, SO_SNDBUF, options->send_buffer);
    if (family == 4) {
        if ((result = set_int(descriptor, IPPROTO_IP, IP_PKTINFO, 1)) < 0 ||
            (result = set_int(descriptor, IPPROTO_IP, IP_RECVTOS, 1)) < 0 ||
            (result = set_int(descriptor, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DONT)) < 0)
            return result;
    } else if ((result = set_int(descriptor, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1)) < 0 ||
               (result = set_int(descriptor, IPPROTO_IPV6, IPV6_RECVTCLASS, 1)) < 0) {
        return result;
    }
    set_int(descriptor, SOL_SOCKET, SO_RXQ_OVFL, 1);
    // Older kernels do not know UDP_GRO: every read is then one datagram.
    *receive_offload = set_int(descriptor, IPPROTO_UDP, UDP_GRO, options->receive_offload) == 0 &&
                       options->receive_offload;
    return 0;
}

int ctun_udp_open(const struct ctun_udp_options *options) {
    int domain = options->family == 4 ? AF_INET : AF_INET6, result;
    int descriptor = socket(domain, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP);
    if (descriptor < 0)
        return -errno;
    bool receive_offload;
    if (domain == AF_INET6 && (result = set_int(descriptor, IPPROTO_IPV6, IPV6_V6ONLY, 1)) < 0)
        goto fail;
    if ((result = ctun_udp_configure(descriptor, options, &receive_offload)) < 0)
        goto fail;
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(options->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(options->port)};
    const struct sockaddr *address = domain == AF_INET ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    if (bind(descriptor, address, domain == AF_INET ? sizeof v4 : sizeof v6) < 0) {
        result = -errno;
        goto fail;
    }
    return descriptor;
fail:
    close(descriptor);
    return result;
}

int ctun_udp_port(int descriptor) {
    struct sockaddr_storage storage;
    socklen_t size = sizeof storage;
    if (getsockname(descriptor, (struct sockaddr *)&storage, &size) < 0)
        return -errno;
    if (storage.ss_family == AF_INET)
        return ntohs(((struct sockaddr_in *)&storage)->sin_port);
    return ntohs(((struct sockaddr_in6 *)&storage)->sin6_port);
}

int ctun_udp_set_mark(int descriptor, uint32_t mark) {
    return setsockopt(descriptor, SOL_SOCKET, SO_MARK, &mark, sizeof mark) < 0 ? -errno : 0;
}

bool ctun_udp_can_segment(int descriptor) {
    int segment = 0;
    socklen_t size = sizeof segment;
    return getsockopt(descriptor, SOL_UDP, UDP_SEGMENT, &segment, &size) == 0;
}

uint32_t ctun_udp_mark(int descriptor) {
    uint32_t mark;
    socklen_t size = sizeof mark;
    return getsockopt(descriptor, SOL_SOCKET, SO_MARK, &mark, &size) < 0 ? 0 : mark;
}

static void put_control(struct msghdr *message, int level, int type, const void *value, size_t size) {
    struct cmsghdr *header = (struct cmsghdr *)((uint8_t *)message->msg_control + message->msg_controllen);
    header->cmsg_level = level;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(header), value, size);
    message->msg_controllen += CMSG_SPACE(size);
}

ssize_t ctun_udp_send(int descriptor, const void *bytes, size_t length, uint16_t segment,
                      const struct ctun_endpoint *destination, const struct ctun_source *source, uint8_t tos) {
    union {
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    _Alignas(struct cmsghdr) uint8_t control[CTUN_UDP_CONTROL];
    struct iovec vector = {.iov_base = (void *)bytes, .iov_len = length};
    struct msghdr message = {.msg_name = &address, .msg_iov = &vector, .msg_iovlen = 1, .msg_control = control};
    memset(&address, 0, sizeof address);
    memset(control, 0, sizeof control);
    bool v4 = destination->family == 4;
    if (v4) {
        address.v4.sin_family = AF_INET;
        address.v4.sin_port = htons(destination->port);
        memcpy(&address.v4.sin_addr, destination->address, 4);
        message.msg_namelen = sizeof address.v4;
    } else {
        address.v6.sin6_family = AF_INET6;
        address.v6.sin6_port = htons(destination->port);
        address.v6.sin6_scope_id = destination->scope;
        memcpy(&address.v6.sin6_addr, destination->address, 16);
        message.msg_namelen = sizeof address.v6;
    }
    if (segment)
        put_control(&message, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment);
    if (tos) {
        int value = tos;
        put_control(&message, v4 ? IPPROTO_IP : IPPROTO_IPV6, v4 ? IP_TOS : IPV6_TCLASS, &value, sizeof value);
    }
    if (source->family == 4 && v4) {
        struct in_pktinfo info = {.ipi_ifindex = (int)source->interface};
        memcpy(&info.ipi_spec_dst, source->address, 4);
        put_control(&message, IPPROTO_IP, IP_PKTINFO, &info, sizeof info);
    } else if (source->family == 6 && !v4) {
        struct in6_pktinfo info = {.ipi6_ifindex = source->interface};
        memcpy(&info.ipi6_addr, source->address, 16);
        put_control(&message, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof info);
    }
    if (message.msg_controllen == 0)
        message.msg_control = NULL;
    ssize_t count;
    do
        count = sendmsg(descriptor, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

struct ctun_udp_batch {
    struct mmsghdr headers[CTUN_UDP_BATCH];
    struct iovec vectors[CTUN_UDP_BATCH];
    struct sockaddr_in6 names[CTUN_UDP_BATCH];
    _Alignas(struct cmsghdr) uint8_t control[CTUN_UDP_BATCH][CTUN_UDP_CONTROL];
};

struct ctun_udp_batch *ctun_udp_batch_create(void) { return calloc(1, sizeof(struct ctun_udp_batch)); }

void ctun_udp_batch_destroy(struct ctun_udp_batch *batch) { free(batch); }

void ctun_udp_batch_buffer(struct ctun_udp_batch *batch, size_t index, void *buffer, size_t length) {
    if (index < CTUN_UDP_BATCH)
        batch->vectors[index] = (struct iovec){.iov_base = buffer, .iov_len = length};
}

int ctun_udp_receive(int descriptor, struct ctun_udp_batch *batch, size_t count) {
    if (count > CTUN_UDP_BATCH)
        count = CTUN_UDP_BATCH;
    // The kernel overwrites the lengths with what it used, so they are set anew for each call.
    for (size_t i = 0; i < count; i++)
        batch->headers[i].msg_hdr = (struct msghdr){
            .msg_name = &batch->names[i],
            .msg_namelen = sizeof batch->names[i],
            .msg_iov = &batch->vectors[i],
            .msg_iovlen = 1,
            .msg_control = batch->control[i],
            .msg_controllen = CTUN_UDP_CONTROL,
        };
    int received;
    do
        received = recvmmsg(descriptor, batch->headers, (unsigned)count, MSG_DONTWAIT, NULL);
    while (received < 0 && errno == EINTR);
    return received < 0 ? -errno : received;
}

// Every control message is looked at: their order is not promised.
static void read_control(struct msghdr *header, struct ctun_udp_message *message) {
    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        size_t size = c->cmsg_len - CMSG_LEN(0);
        const void *data = CMSG_DATA(c);
        if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO && size >= sizeof(int)) {
            int segment;
            memcpy(&segment, data, sizeof segment);
            if (segment > 0 && (uint32_t)segment <= message->length)
                message->segment = (uint32_t)segment;
        } else if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL && size >= 4) {
            memcpy(&message->overflow, data, 4);
        } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_TOS && size >= 1) {
            memcpy(&message->tos, data, 1);
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_TCLASS && size >= sizeof(int)) {
            int value;
            memcpy(&value, data, sizeof value);
            message->tos = (uint8_t)value;
        } else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO && size >= sizeof(struct in_pktinfo)) {
            struct in_pktinfo info;
            memcpy(&info, data, sizeof info);
            message->to.family = 4;
            message->to.interface = (uint32_t)info.ipi_ifindex;
            memcpy(message->to.address, &info.ipi_spec_dst, 4);
        } else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO &&
                   size >= sizeof(struct in6_pktinfo)) {
            struct in6_pktinfo info;
            memcpy(&info, data, sizeof info);
            message->to.family = 6;
            message->to.interface = info.ipi6_ifindex;
            memcpy(message->to.address, &info.ipi6_addr, 16);
        }
    }
}

struct ctun_udp_message ctun_udp_batch_message(const struct ctun_udp_batch *batch, size_t index) {
    struct ctun_udp_message message;
    memset(&message, 0, sizeof message);
    if (index >= CTUN_UDP_BATCH)
        return message;
    struct msghdr header = batch->headers[index].msg_hdr;
    message.length = batch->headers[index].msg_len;
    message.segment = message.length;
    message.truncated = header.msg_flags & MSG_TRUNC;
    const struct sockaddr_in6 *name = &batch->names[index];
    if (name->sin6_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)name;
        message.from.family = 4;
        message.from.port = ntohs(v4->sin_port);
        memcpy(message.from.address, &v4->sin_addr, 4);
    } else if (name->sin6_family == AF_INET6) {
        message.from.family = 6;
        message.from.port = ntohs(name->sin6_port);
        message.from.scope = name->sin6_scope_id;
        memcpy(message.from.address, &name->sin6_addr, 16);
    }
    read_control(&header, &message);
    return message;
}
