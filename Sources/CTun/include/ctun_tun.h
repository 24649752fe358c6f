// TUN devices with a virtio_net_hdr before every packet (linux/if_tun.h, linux/virtio_net.h).
#ifndef CTUN_TUN_H
#define CTUN_TUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Bytes of struct virtio_net_hdr, which precede each packet in both directions.
enum { CTUN_VNET_HEADER = 10, CTUN_NAME_SIZE = 16 };

/// Offloads that the reader of the TUN accepts (TUN_F_*).
enum {
    CTUN_OFFLOAD_CHECKSUM = 0x01,
    CTUN_OFFLOAD_TSO4 = 0x02,
    CTUN_OFFLOAD_TSO6 = 0x04,
    CTUN_OFFLOAD_TSO_ECN = 0x08,
    CTUN_OFFLOAD_USO4 = 0x20,
    CTUN_OFFLOAD_USO6 = 0x40,
};

/// Opens /dev/net/tun and attaches IFF_TUN|IFF_NO_PI|IFF_VNET_HDR under `name`, which is replaced by the real name.
/// With `exclusive` an interface that exists is refused (-EBUSY). Returns a non-blocking descriptor or -errno.
int ctun_tun_open(char name[_Nonnull CTUN_NAME_SIZE], bool exclusive);

/// Checks that a descriptor is a TUN without packet information and with a 10-byte vnet header, makes it non-blocking,
/// and stores its name. Returns 0, -EBADF or -ENOTTY when it is no TUN, -EPROTO when its flags differ.
int ctun_tun_adopt(int descriptor, char name[_Nonnull CTUN_NAME_SIZE]);

/// TUNSETOFFLOAD; returns 0 or -errno.
int ctun_tun_set_offload(int descriptor, unsigned flags);

/// The interface's name as it is now; returns 0 or -errno (-EBADFD when the interface was deleted).
int ctun_tun_name(int descriptor, char name[_Nonnull CTUN_NAME_SIZE]);

/// The MTU of an interface of the caller's network namespace, or -errno.
int ctun_interface_mtu(const char *_Nonnull name);

#endif
