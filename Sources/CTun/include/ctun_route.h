// What the machine's routes say of outer datagrams, from rtnetlink(7), as anybody may ask it.
#ifndef CTUN_ROUTE_H
#define CTUN_ROUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "ctun_udp.h"

/// A socket that is readable once routes or rules have changed; non-blocking, close-on-exec. Returns it or -errno.
int ctun_route_watch(void);

/// Takes the notices of a watch; whether there were any.
bool ctun_route_take_changes(int watch);

/// The index of the interface by which a datagram with that source address and mark leaves, whatever its interface says now;
/// -errno when there is no way, and in IPv4 also when there is no such address any more.
int ctun_route_interface(const struct ctun_endpoint *_Nonnull destination, const struct ctun_source *_Nonnull source,
                         uint32_t mark);

#endif
