// UDP sockets with UDP_SEGMENT and UDP_GRO (udp(7)), sticky source addresses (ip(7), ipv6(7)) and ToS.
#ifndef CTUN_UDP_H
#define CTUN_UDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/// A remote address. `address` holds 4 or 16 bytes in network order; `family` is 4, 6, or 0 for none.
struct ctun_endpoint {
    uint8_t address[16];
    uint32_t scope;
    uint16_t port;
    uint8_t family;
    uint8_t reserved;
};

/// A local address and interface, as PKTINFO gives and takes them; `family` 0 means that the kernel chooses.
struct ctun_source {
    uint8_t address[16];
    uint32_t interface;
    uint8_t family;
    uint8_t reserved[3];
};

/// How a socket is made; `mark` 0 sets none, a buffer of 0 keeps the system's.
struct ctun_udp_options {
    uint8_t family;
    bool receive_offload;
    uint16_t port;
    uint32_t mark;
    int32_t receive_buffer;
    int32_t send_buffer;
};

/// A wildcard socket, bound, non-blocking, close-on-exec, configured by `ctun_udp_configure`; returns it or -errno.
int ctun_udp_open(const struct ctun_udp_options *_Nonnull options);

/// Sets the options that receiving needs on a socket that may come from another process. The family is the socket's.
/// Stores whether UDP_GRO is on. Returns 0 or -errno.
int ctun_udp_configure(int descriptor, const struct ctun_udp_options *_Nonnull options, bool *_Nonnull receive_offload);

/// Family (4 or 6) of a UDP socket, or -errno.
int ctun_udp_family(int descriptor);

/// The bound port, or -errno.
int ctun_udp_port(int descriptor);

/// SO_MARK; returns 0 or -errno.
int ctun_udp_set_mark(int descriptor, uint32_t mark);

/// Whether the kernel cuts what is sent into datagrams (UDP_SEGMENT).
bool ctun_udp_can_segment(int descriptor);

/// SO_MARK, 0 for none.
uint32_t ctun_udp_mark(int descriptor);

/// Sends `length` bytes in one call. `segment` other than 0 adds UDP_SEGMENT; `tos` other than 0 adds IP_TOS or IPV6_TCLASS.
/// Returns the count or -errno; never blocks.
ssize_t ctun_udp_send(int descriptor, const void *_Nonnull bytes, size_t length, uint16_t segment,
                      const struct ctun_endpoint *_Nonnull destination, const struct ctun_source *_Nonnull source,
                      uint8_t tos);

enum { CTUN_UDP_BATCH = 8, CTUN_UDP_CONTROL = 256 };

/// One received train: `segment` is the stride of the datagrams in it (equal to `length` for a single one).
struct ctun_udp_message {
    struct ctun_endpoint from;
    struct ctun_source to;
    uint32_t length;
    uint32_t segment;
    uint32_t overflow;
    uint8_t tos;
    bool truncated;
};

/// The headers and control buffers of one recvmmsg; made once, used by one thread.
struct ctun_udp_batch;

struct ctun_udp_batch *_Nullable ctun_udp_batch_create(void);
void ctun_udp_batch_destroy(struct ctun_udp_batch *_Nonnull batch);

/// Gives the buffer that the message `index` is received into.
void ctun_udp_batch_buffer(struct ctun_udp_batch *_Nonnull batch, size_t index, void *_Nonnull buffer, size_t length);

/// recvmmsg(2) into the first `count` buffers without waiting; returns the number of messages or -errno.
int ctun_udp_receive(int descriptor, struct ctun_udp_batch *_Nonnull batch, size_t count);

/// What message `index` of the last receive was.
struct ctun_udp_message ctun_udp_batch_message(const struct ctun_udp_batch *_Nonnull batch, size_t index);

#endif
