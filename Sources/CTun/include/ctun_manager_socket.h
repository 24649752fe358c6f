// The control socket of the manager, and what it says to the service manager that started it.
// Every function returns a descriptor, a count or 0, or -errno; descriptors are close-on-exec and the caller's.
#ifndef CTUN_MANAGER_SOCKET_H
#define CTUN_MANAGER_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

/// Who is at the other end of a connection, as the kernel noted it when the connection was made.
struct ctun_peer {
    uid_t user;
    gid_t group;
    pid_t process;
};

/// Opens the file at `path` and takes its lock, which lasts as long as the descriptor; -EAGAIN while somebody has it.
int ctun_lock_file(const char *_Nonnull path);

/// Listens on a stream socket at `path`, which everybody may connect to; what is there before is removed.
int ctun_listen(const char *_Nonnull path);

/// Accepts one connection without waiting: non-blocking, with its peer; -EAGAIN when there is none.
int ctun_accept(int listener, struct ctun_peer *_Nonnull peer);

/// The supplementary groups of the peer; returns their number, which may be more than `capacity` held.
long ctun_peer_groups(int socket, gid_t *_Nonnull groups, size_t capacity);

/// A descriptor of the peer's process; -ESRCH when it is gone, -ENOPROTOOPT before Linux 6.5.
int ctun_peer_pidfd(int socket);

/// Receives without waiting; 0 at the end of the stream.
long ctun_stream_receive(int socket, void *_Nonnull buffer, size_t capacity);

/// Sends without waiting and without SIGPIPE.
long ctun_stream_send(int socket, const void *_Nonnull bytes, size_t length);

/// Sends `state` to the socket that NOTIFY_SOCKET names (sd_notify(3)); an address that begins with @ is abstract.
int ctun_notify(const char *_Nonnull address, const char *_Nonnull state);

/// Raises the limit of open descriptors as far as it goes; returns the limit.
long ctun_raise_descriptor_limit(void);

#endif
