// The Internet checksum (RFC 1071) over native-order 16-bit words.
#ifndef CTUN_CHECKSUM_H
#define CTUN_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/// Adds `length` bytes to a running sum; an odd last byte counts as if a zero followed it.
/// Sums of pieces may be added together when every piece but the last has an even length.
uint64_t ctun_checksum_add(const void *_Nonnull bytes, size_t length, uint64_t sum);

/// Folds a running sum to 16 bits in native order, not complemented.
static inline uint16_t ctun_checksum_fold(uint64_t sum) {
    sum = (sum & 0xffffffffu) + (sum >> 32);
    sum = (sum & 0xffffffffu) + (sum >> 32);
    sum = (sum & 0xffffu) + (sum >> 16);
    sum = (sum & 0xffffu) + (sum >> 16);
    sum = (sum & 0xffffu) + (sum >> 16);
    return (uint16_t)sum;
}

#endif
