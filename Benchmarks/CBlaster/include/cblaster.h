// Datagrams by the batch, each from a source address of its own: sendmmsg(2) with IP_PKTINFO (ip(7)).
#ifndef CBLASTER_H
#define CBLASTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLASTER_BATCH = 64 };

/// Datagrams that are sent in turn, and where from and to; addresses and port in host order.
struct blaster_load {
    const uint8_t *_Nonnull bytes;
    /// Datagram i is bytes[bounds[i]] up to bytes[bounds[i + 1]].
    const uint32_t *_Nonnull bounds;
    uint32_t count;
    uint32_t target;
    /// The first of the source addresses, which must be the machine's own.
    uint32_t source;
    /// How many source addresses take turns; with 0 the kernel chooses one.
    uint32_t sources;
    uint16_t port;
    /// Whether each datagram begins with its number, 8 bytes in host order, before the bytes of the load.
    bool is_numbered;
};

/// An IPv4 UDP socket on a free port; returns it or -errno.
int blaster_open(void);

/// Sends datagrams of the load from number `first` on, at most BLASTER_BATCH; returns how many, or -errno.
int blaster_send(int descriptor, const struct blaster_load *_Nonnull load, uint64_t first, uint32_t count);

/// Receives one datagram; returns its length, -EAGAIN when none came in time, or another -errno.
int blaster_receive(int descriptor, void *_Nonnull bytes, size_t length, int milliseconds);

#endif
