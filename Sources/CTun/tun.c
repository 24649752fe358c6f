#define _GNU_SOURCE
#include "ctun_tun.h"
#include "ctun_io.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/if_tun.h>

int ctun_tun_open(char name[CTUN_NAME_SIZE], bool exclusive) {
    int descriptor = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return -errno;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    memcpy(request.ifr_name, name, IFNAMSIZ - 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
    if (exclusive)
        request.ifr_flags |= (short)IFF_TUN_EXCL;
    int size = CTUN_VNET_HEADER;
    if (ioctl(descriptor, TUNSETIFF, &request) < 0 || ioctl(descriptor, TUNSETVNETHDRSZ, &size) < 0) {
        int error = -errno;
        close(descriptor);
        return error;
    }
    memset(name, 0, CTUN_NAME_SIZE);
    memcpy(name, request.ifr_name, IFNAMSIZ - 1);
    return descriptor;
}

int ctun_tun_adopt(int descriptor, char name[CTUN_NAME_SIZE]) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    if (ioctl(descriptor, TUNGETIFF, &request) < 0)
        return -errno;
    int wanted = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR, flags = (unsigned short)request.ifr_flags;
    if ((flags & (wanted | IFF_TAP)) != wanted)
        return -EPROTO;
    int size = CTUN_VNET_HEADER;
    if (ioctl(descriptor, TUNSETVNETHDRSZ, &size) < 0)
        return -errno;
    memset(name, 0, CTUN_NAME_SIZE);
    memcpy(name, request.ifr_name, IFNAMSIZ - 1);
    return ctun_set_nonblocking(descriptor);
}

int ctun_tun_set_offload(int descriptor, unsigned flags) {
    return ioctl(descriptor, TUNSETOFFLOAD, (unsigned long)flags) < 0 ? -errno : 0;
}

int ctun_tun_name(int descriptor, char name[CTUN_NAME_SIZE]) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    if (ioctl(descriptor, TUNGETIFF, &request) < 0)
        return -errno;
    memset(name, 0, CTUN_NAME_SIZE);
    memcpy(name, request.ifr_name, IFNAMSIZ - 1);
    return 0;
}

int ctun_interface_mtu(const char *name) {
    struct ifreq request;
    memset(&request, 0, sizeof request);
    strncpy(request.ifr_name, name, IFNAMSIZ - 1);
    int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0)
        return -errno;
    int result = ioctl(descriptor, SIOCGIFMTU, &request) < 0 ? -errno : request.ifr_mtu;
    close(descriptor);
    return result;
}
