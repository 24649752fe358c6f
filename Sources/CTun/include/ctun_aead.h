// ChaCha20-Poly1305 (RFC 8439) in batches: one key, no additional data, nonce = 4 zero bytes | 64-bit little-endian counter.
#ifndef CTUN_AEAD_H
#define CTUN_AEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CTUN_AEAD_KEY = 32, CTUN_AEAD_TAG = 16 };

/// One message. `length` counts the plaintext. Sealing reads `length` and writes `length` + 16 bytes; opening reads
/// `length` + 16 and writes `length`. Input and output do not overlap. `authentic` is set by opening.
struct ctun_aead_job {
    const uint8_t *_Nonnull input;
    uint8_t *_Nonnull output;
    uint64_t counter;
    uint32_t length;
    uint32_t authentic;
};

/// A back end. A state serves one thread. When `authentic` comes back 0 the output's `length` bytes are undefined.
struct ctun_aead_backend {
    const char *_Nonnull name;
    void *_Nullable (*_Nonnull create)(void);
    void (*_Nonnull destroy)(void *_Nonnull state);
    void (*_Nonnull seal)(void *_Nonnull state, const uint8_t *_Nonnull key, struct ctun_aead_job *_Nonnull jobs,
                          size_t count);
    void (*_Nonnull open)(void *_Nonnull state, const uint8_t *_Nonnull key, struct ctun_aead_job *_Nonnull jobs,
                          size_t count);
};

/// libsodium: present everywhere.
const struct ctun_aead_backend *_Nonnull ctun_aead_sodium(void);

/// libipsec-mb's job interface: x86-64 only, else NULL.
const struct ctun_aead_backend *_Nullable ctun_aead_ipsec_mb(void);

/// Ours, key stream and authentication interleaved: x86-64 with AVX2 only, else NULL.
const struct ctun_aead_backend *_Nullable ctun_aead_stitched(void);

/// Whether the processor has the 512-bit vectors (AVX-512 F, VL, BW) that both of them can use.
bool ctun_aead_has_avx512(void);

/// Seals and opens messages of many lengths and compares every byte with libsodium; true when all agree.
bool ctun_aead_self_test(const struct ctun_aead_backend *_Nonnull backend);

/// Nanoseconds to seal one 1,420-byte message, the best of several rounds that take about `budget` nanoseconds; 0 on failure.
uint64_t ctun_aead_time(const struct ctun_aead_backend *_Nonnull backend, uint64_t budget);

/// Whether two tags are the same, in constant time.
bool ctun_aead_same_tag(const uint8_t one[_Nonnull CTUN_AEAD_TAG], const uint8_t other[_Nonnull CTUN_AEAD_TAG]);

/// memset that the compiler keeps.
void ctun_zero(void *_Nonnull bytes, size_t length);

#endif
