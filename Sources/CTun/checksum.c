#include "ctun_checksum.h"

#include <string.h>

// The loop adds 32-bit words into 64-bit lanes, which compilers turn into vector code: 2^32 words would be needed to
// overflow a lane, and a packet has at most 2^14. The carries are folded once, at the end.
static inline __attribute__((always_inline)) uint64_t add_words(const uint8_t *bytes, size_t length, uint64_t sum) {
    size_t words = length / 4;
    uint64_t lanes = 0;
    for (size_t i = 0; i < words; i++) {
        uint32_t word;
        memcpy(&word, bytes + 4 * i, 4);
        lanes += word;
    }
    bytes += 4 * words;
    if (length & 2) {
        uint16_t half;
        memcpy(&half, bytes, 2);
        lanes += half;
        bytes += 2;
    }
    if (length & 1) {
        uint16_t last = 0;
        memcpy(&last, bytes, 1);
        lanes += last;
    }
    sum += lanes;
    return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static uint64_t add_avx2(const uint8_t *bytes, size_t length, uint64_t sum) {
    return add_words(bytes, length, sum);
}

static int has_avx2;
__attribute__((constructor)) static void find_avx2(void) {
    __builtin_cpu_init();
    has_avx2 = __builtin_cpu_supports("avx2");
}
#endif

uint64_t ctun_checksum_add(const void *bytes, size_t length, uint64_t sum) {
#if defined(__x86_64__)
    if (has_avx2 && length >= 64)
        return add_avx2(bytes, length, sum);
#endif
    return add_words(bytes, length, sum);
}
