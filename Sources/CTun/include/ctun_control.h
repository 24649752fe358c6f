// Listening UNIX sockets of the manager, and their files. Every function returns 0 or a descriptor, or -errno.
// Descriptors are close-on-exec and the caller's.
#ifndef CTUN_CONTROL_H
#define CTUN_CONTROL_H

#include <stdint.h>

/// Which file a path named once: another one of the same name is not it.
struct ctun_file_identity {
    uint64_t device;
    uint64_t inode;
};

/// Listens on a stream socket at `path`, which only its owner may use; -EADDRINUSE when there is a file.
int ctun_control_listen(const char *_Nonnull path);

/// Whether somebody listens at `path`: 0, or -ECONNREFUSED when the file was left behind.
int ctun_control_probe(const char *_Nonnull path);

/// Connects to the socket at `path`.
int ctun_control_connect(const char *_Nonnull path);

/// Takes over an inherited listening stream socket: non-blocking, close-on-exec; -EINVAL for anything else.
int ctun_control_adopt(int listener);

/// The next connection, itself blocking; -EAGAIN when none waits.
int ctun_control_accept(int listener);

/// Which file `path` names now.
int ctun_file_identify(const char *_Nonnull path, struct ctun_file_identity *_Nonnull identity);

/// An inotify descriptor that is readable after the file lost its name.
int ctun_file_watch(const char *_Nonnull path);

/// Takes what an inotify descriptor reported.
void ctun_file_watch_clear(int watch);

/// Makes a directory that everybody may look into, unless it is there.
int ctun_make_directory(const char *_Nonnull path);

#endif
