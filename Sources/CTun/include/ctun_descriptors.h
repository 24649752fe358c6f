// Messages with descriptors over a SOCK_SEQPACKET socket, and message bodies in sealed memory.
// Every function returns 0 or a count, or -errno. A descriptor that is returned is close-on-exec and the caller's.
#ifndef CTUN_DESCRIPTORS_H
#define CTUN_DESCRIPTORS_H

#include <stddef.h>

/// The most descriptors that one message carries.
enum { CTUN_DESCRIPTORS_MAX = 8 };

/// What arrived with a message besides its bytes.
struct ctun_ancillary {
    int descriptors[CTUN_DESCRIPTORS_MAX];
    int count;
    /// Whether bytes or descriptors did not fit and are lost.
    int truncated;
};

/// Makes a connected pair of SOCK_SEQPACKET sockets.
int ctun_socketpair(int pair[_Nonnull 2]);

/// Sends one message of two parts without waiting; -EAGAIN while the receiver is slow, -EPIPE once it is gone.
long ctun_send(int socket, const void *_Nonnull head, size_t head_length, const void *_Nullable body,
               size_t body_length, const int *_Nullable descriptors, size_t count);

/// Receives one message without waiting; 0 when the sender is gone.
/// `ancillary` is filled in every case, so the caller can close what came.
long ctun_receive(int socket, void *_Nonnull buffer, size_t capacity, struct ctun_ancillary *_Nonnull ancillary);

/// Puts bytes into anonymous memory that nobody can change any more.
int ctun_sealed_memory(const void *_Nonnull bytes, size_t length);

/// The size of anonymous memory, provided that it is sealed against change; -EPERM when it is not, -EINVAL for
/// anything that is no such memory.
long ctun_sealed_memory_size(int descriptor);

#endif
