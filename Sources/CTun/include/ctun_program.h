// Programs of the system that do one thing and end.
#ifndef CTUN_PROGRAM_H
#define CTUN_PROGRAM_H

#include <stddef.h>

/// Runs the program `arguments[0]`, a path, with `input` at its standard input, and waits for its end; one that takes longer
/// than `milliseconds` is killed. Both of its outputs go into `output`, of which `*output_length` bytes are filled.
/// Returns its exit status, 256 plus the signal that ended it, -ETIMEDOUT, or another -errno.
int ctun_run_program(const char *_Nullable const *_Nonnull arguments, const void *_Nullable input, size_t input_length,
                     void *_Nonnull output, size_t capacity, size_t *_Nonnull output_length, int milliseconds);

#endif
