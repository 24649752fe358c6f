#define _GNU_SOURCE
#include "ctun_route.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

static int open_netlink(uint32_t groups, int flags) {
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = groups};
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | flags, NETLINK_ROUTE);
    if (descriptor < 0)
        return -errno;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) < 0) {
        int error = -errno;
        close(descriptor);
        return error;
    }
    return descriptor;
}

int ctun_route_watch(void) {
    uint32_t rules = RTMGRP_IPV4_RULE | 1u << (RTNLGRP_IPV6_RULE - 1);
    return open_netlink(RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE | rules, SOCK_NONBLOCK);
}

bool ctun_route_take_changes(int watch) {
    bool any = false;
    char byte;
    // Bounded: whatever comes meanwhile makes the socket readable again.
    for (int i = 0; i < 4096; i++) {
        // ENOBUFS: notices were lost, which is a notice.
        if (recv(watch, &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) < 0 && errno != ENOBUFS && errno != EINTR)
            break;
        any = true;
    }
    return any;
}

struct request {
    struct nlmsghdr header;
    struct rtmsg route;
    uint8_t attributes[64];
};

static void put(struct request *request, uint16_t type, const void *value, uint16_t size) {
    struct rtattr *attribute = (struct rtattr *)((uint8_t *)request + NLMSG_ALIGN(request->header.nlmsg_len));
    attribute->rta_type = type;
    attribute->rta_len = RTA_LENGTH(size);
    memcpy(RTA_DATA(attribute), value, size);
    request->header.nlmsg_len = NLMSG_ALIGN(request->header.nlmsg_len) + RTA_ALIGN(attribute->rta_len);
}

// The interface in the answer to RTM_GETROUTE.
static int interface_of(const struct nlmsghdr *header, size_t length) {
    if (!NLMSG_OK(header, length))
        return -EBADMSG;
    if (header->nlmsg_type == NLMSG_ERROR && header->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
        int error = ((const struct nlmsgerr *)NLMSG_DATA(header))->error;
        return error < 0 ? error : -EBADMSG;
    }
    if (header->nlmsg_type != RTM_NEWROUTE || header->nlmsg_len < NLMSG_LENGTH(sizeof(struct rtmsg)))
        return -EBADMSG;
    const struct rtmsg *route = NLMSG_DATA(header);
    size_t rest = RTM_PAYLOAD(header);
    for (const struct rtattr *a = RTM_RTA(route); RTA_OK(a, rest); a = RTA_NEXT(a, rest)) {
        int interface;
        if (a->rta_type == RTA_OIF && RTA_PAYLOAD(a) >= sizeof interface) {
            memcpy(&interface, RTA_DATA(a), sizeof interface);
            return interface;
        }
    }
    return -ENETUNREACH;
}

int ctun_route_interface(const struct ctun_endpoint *destination, const struct ctun_source *source, uint32_t mark) {
    if (destination->family != source->family)
        return -EAFNOSUPPORT;
    bool v4 = destination->family == 4;
    uint16_t size = v4 ? 4 : 16;
    struct request request = {
        .header = {.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
                   .nlmsg_type = RTM_GETROUTE,
                   .nlmsg_flags = NLM_F_REQUEST},
        .route = {.rtm_family = v4 ? AF_INET : AF_INET6, .rtm_dst_len = size * 8, .rtm_src_len = size * 8},
    };
    put(&request, RTA_DST, destination->address, size);
    put(&request, RTA_SRC, source->address, size);
    if (mark)
        put(&request, RTA_MARK, &mark, sizeof mark);
    int descriptor = open_netlink(0, 0);
    if (descriptor < 0)
        return descriptor;
    // The kernel answers within the call that asks.
    _Alignas(struct nlmsghdr) uint8_t answer[2048];
    ssize_t count = send(descriptor, &request, request.header.nlmsg_len, 0);
    if (count >= 0)
        count = recv(descriptor, answer, sizeof answer, MSG_DONTWAIT);
    int result = count < 0 ? -errno : interface_of((const struct nlmsghdr *)answer, (size_t)count);
    close(descriptor);
    return result;
}
