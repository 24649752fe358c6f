// ChaCha20-Poly1305 with its two halves run side by side: eight blocks of key stream at a time in vector registers
// (RFC 8439 2.3, one block per lane), and between the quarter rounds the scalar multiplications that authenticate what
// is ready (2.5, radix 2^64). Out-of-order cores do both at once, so Poly1305 costs next to nothing.
//
// Those multiplications are a chain, each of which waits for the one before: three in the time of a double round, so
// thirty in that of eight blocks of key stream. The end of a message, which has no vectors of its own left to run
// beside, is authenticated beside the first key stream of the message that follows.
//
// Constant time: no branch and no address depends on key or message bytes, but for whether a key is that of the call
// before.
#include "ctun_aead.h"

#if defined(__x86_64__)

#include <immintrin.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#define INLINE static inline __attribute__((always_inline))
#define VECTOR __attribute__((target("avx2,bmi2")))

enum { BLOCK = 64, LANES = 8, PASS = BLOCK * LANES, POLY = 16 };

// MARK: Poly1305

typedef unsigned __int128 wide;

struct poly {
    uint64_t h0, h1, h2;
    uint64_t r0, r1;
    uint64_t s1;  // r1 * 5/4: r1's low two bits are clamped to zero
};

INLINE uint64_t load64(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

INLINE struct poly poly_begin(const uint8_t *key) {
    struct poly p = {.r0 = load64(key) & 0x0ffffffc0fffffff, .r1 = load64(key + 8) & 0x0ffffffc0ffffffc};
    p.s1 = p.r1 + (p.r1 >> 2);
    return p;
}

// h = (h + m + 2^128) * r, reduced so far that h2 stays below 8.
INLINE void poly_absorb(struct poly *p, uint64_t m0, uint64_t m1) {
    unsigned long long h0, h1, h2, low, high;
    unsigned char carry = _addcarry_u64(0, p->h0, m0, &h0);
    carry = _addcarry_u64(carry, p->h1, m1, &h1);
    _addcarry_u64(carry, p->h2, 1, &h2);

    wide d0 = (wide)h0 * p->r0 + (wide)h1 * p->s1;
    wide d1 = (wide)h0 * p->r1 + (wide)h1 * p->r0;
    uint64_t d2 = h2 * p->r0;
    carry = _addcarry_u64(0, (uint64_t)d1, (uint64_t)(d0 >> 64), &low);
    _addcarry_u64(carry, (uint64_t)(d1 >> 64), d2, &high);
    carry = _addcarry_u64(0, low, h2 * p->s1, &h1);
    _addcarry_u64(carry, high, 0, &h2);

    // 2^130 = 5: what is above bit 129 comes back as (h2 >> 2) * 5.
    carry = _addcarry_u64(0, (uint64_t)d0, (h2 >> 2) + (h2 & ~3ull), &h0);
    p->h0 = h0;
    carry = _addcarry_u64(carry, h1, 0, &h1);
    p->h1 = h1;
    p->h2 = (h2 & 3) + carry;
}

INLINE void poly_block(struct poly *p, const uint8_t *bytes) { poly_absorb(p, load64(bytes), load64(bytes + 8)); }

// Takes what is left of a message, its padding and the lengths block (2.8), and writes the tag.
INLINE void poly_finish(struct poly *p, const uint8_t *bytes, size_t left, size_t length, const uint8_t *pad,
                        uint8_t *tag) {
    for (; left >= POLY; left -= POLY, bytes += POLY)
        poly_block(p, bytes);
    if (left > 0) {
        uint8_t last[POLY] = {0};
        memcpy(last, bytes, left);
        poly_block(p, last);
    }
    poly_absorb(p, 0, length);

    // h - p when that is not negative, chosen by mask.
    wide sum = (wide)p->h0 + 5;
    uint64_t g0 = (uint64_t)sum;
    sum = (wide)p->h1 + (uint64_t)(sum >> 64);
    uint64_t g1 = (uint64_t)sum;
    uint64_t mask = 0 - ((p->h2 + (uint64_t)(sum >> 64)) >> 2);
    uint64_t h0 = (p->h0 & ~mask) | (g0 & mask);
    uint64_t h1 = (p->h1 & ~mask) | (g1 & mask);

    sum = (wide)h0 + load64(pad);
    h0 = (uint64_t)sum;
    h1 = (uint64_t)((wide)h1 + load64(pad + 8) + (uint64_t)(sum >> 64));
    memcpy(tag, &h0, sizeof h0);
    memcpy(tag + 8, &h1, sizeof h1);
}

// MARK: ChaCha20

// What Poly1305 may take while key stream is made: whole blocks that are ready.
struct ready {
    const uint8_t *bytes;
    size_t blocks;
};

// One byte shuffle each, from memory: a compiler that sees the order makes two of the first, and no register is free.
_Alignas(32) static const uint8_t order16[32] = {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13,  //
                                                 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13};
_Alignas(32) static const uint8_t order8[32] = {3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14,  //
                                                3, 0, 1, 2, 7, 4, 5, 6, 11, 8, 9, 10, 15, 12, 13, 14};

VECTOR INLINE __m256i rotate16(__m256i x) {
    __asm__("vpshufb %1, %0, %0" : "+x"(x) : "m"(order16));
    return x;
}

VECTOR INLINE __m256i rotate8(__m256i x) {
    __asm__("vpshufb %1, %0, %0" : "+x"(x) : "m"(order8));
    return x;
}

#define ROTATE(x, n) _mm256_or_si256(_mm256_slli_epi32(x, n), _mm256_srli_epi32(x, 32 - (n)))

VECTOR INLINE void quarter_rounds(__m256i *x, int a, int b, int c, int d, int e, int f, int g, int h) {
    x[a] = _mm256_add_epi32(x[a], x[b]);
    x[e] = _mm256_add_epi32(x[e], x[f]);
    x[d] = rotate16(_mm256_xor_si256(x[d], x[a]));
    x[h] = rotate16(_mm256_xor_si256(x[h], x[e]));
    x[c] = _mm256_add_epi32(x[c], x[d]);
    x[g] = _mm256_add_epi32(x[g], x[h]);
    x[b] = _mm256_xor_si256(x[b], x[c]);
    x[f] = _mm256_xor_si256(x[f], x[g]);
    x[b] = ROTATE(x[b], 12);
    x[f] = ROTATE(x[f], 12);
    x[a] = _mm256_add_epi32(x[a], x[b]);
    x[e] = _mm256_add_epi32(x[e], x[f]);
    x[d] = rotate8(_mm256_xor_si256(x[d], x[a]));
    x[h] = rotate8(_mm256_xor_si256(x[h], x[e]));
    x[c] = _mm256_add_epi32(x[c], x[d]);
    x[g] = _mm256_add_epi32(x[g], x[h]);
    x[b] = _mm256_xor_si256(x[b], x[c]);
    x[f] = _mm256_xor_si256(x[f], x[g]);
    x[b] = ROTATE(x[b], 7);
    x[f] = ROTATE(x[f], 7);
}

// Eight vectors of one word of eight blocks each become eight vectors of eight words of one block each.
VECTOR INLINE void transpose(const __m256i *x, uint8_t *stream) {
    __m256i a[8], b[8];
    for (int i = 0; i < 4; i++) {
        a[2 * i] = _mm256_unpacklo_epi32(x[2 * i], x[2 * i + 1]);
        a[2 * i + 1] = _mm256_unpackhi_epi32(x[2 * i], x[2 * i + 1]);
    }
    for (int i = 0; i < 2; i++) {
        b[4 * i] = _mm256_unpacklo_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 1] = _mm256_unpackhi_epi64(a[4 * i], a[4 * i + 2]);
        b[4 * i + 2] = _mm256_unpacklo_epi64(a[4 * i + 1], a[4 * i + 3]);
        b[4 * i + 3] = _mm256_unpackhi_epi64(a[4 * i + 1], a[4 * i + 3]);
    }
    for (int i = 0; i < 4; i++) {
        _mm256_store_si256((__m256i *)(stream + i * BLOCK), _mm256_permute2x128_si256(b[i], b[i + 4], 0x20));
        _mm256_store_si256((__m256i *)(stream + (i + 4) * BLOCK), _mm256_permute2x128_si256(b[i], b[i + 4], 0x31));
    }
}

// Makes the key stream of eight blocks from `state`, moves its block counter on, and absorbs what is ready meanwhile.
VECTOR INLINE void make_stream(uint32_t *state, uint8_t *stream, struct poly *poly, struct ready *ready) {
    __m256i x[16];
    for (int i = 0; i < 16; i++)
        x[i] = _mm256_set1_epi32((int)state[i]);
    const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    x[12] = _mm256_add_epi32(x[12], lanes);
    for (int round = 0; round < 10; round++) {
        struct poly p = *poly;
        const uint8_t *bytes = ready->bytes;
        bool absorbs = ready->blocks >= 3;
        quarter_rounds(x, 0, 4, 8, 12, 1, 5, 9, 13);
        if (absorbs)
            poly_block(&p, bytes);
        quarter_rounds(x, 2, 6, 10, 14, 3, 7, 11, 15);
        quarter_rounds(x, 0, 5, 10, 15, 1, 6, 11, 12);
        if (absorbs)
            poly_block(&p, bytes + POLY);
        quarter_rounds(x, 2, 7, 8, 13, 3, 4, 9, 14);
        if (absorbs) {
            poly_block(&p, bytes + 2 * POLY);
            *poly = p;
            ready->bytes = bytes + 3 * POLY;
            ready->blocks -= 3;
        }
    }
    for (int i = 0; i < 16; i++)
        x[i] = _mm256_add_epi32(x[i], _mm256_set1_epi32((int)state[i]));
    x[12] = _mm256_add_epi32(x[12], lanes);
    transpose(x, stream);
    transpose(x + 8, stream + 32);
    state[12] += LANES;
}

VECTOR INLINE void mix(uint8_t *output, const uint8_t *input, const uint8_t *stream, size_t length) {
    size_t done = 0;
    for (; done + 32 <= length; done += 32)
        _mm256_storeu_si256((__m256i *)(output + done),
                            _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(input + done)),
                                             _mm256_loadu_si256((const __m256i *)(stream + done))));
    for (; done < length; done++)
        output[done] = input[done] ^ stream[done];
}

INLINE void begin_state(uint32_t *state, const uint8_t *key, uint64_t counter) {
    static const uint32_t constants[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    memcpy(state, constants, 16);
    memcpy(state + 4, key, 32);
    state[12] = 0;
    state[13] = 0;
    memcpy(state + 14, &counter, 8);
}

INLINE size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// MARK: The construction (2.8) without additional data

// Key stream between two passes, and what is expected to come between two messages: one with the same key and the next
// counter. Where two in a row have been so, the stream is the first eight blocks of the third.
struct ahead {
    _Alignas(32) uint8_t stream[PASS];
    uint8_t key[CTUN_AEAD_KEY];
    uint64_t counter;
    bool made;
};

VECTOR INLINE bool same_key(const uint8_t *one, const uint8_t *other) {
    __m256i first = _mm256_loadu_si256((const __m256i *)one), second = _mm256_loadu_si256((const __m256i *)other);
    return _mm256_movemask_epi8(_mm256_cmpeq_epi8(first, second)) == -1;
}

// Runs over the message and leaves its tag. Ciphertext is `output` while sealing and `input` while opening; the latter
// is ready from the start, the former pass by pass.
VECTOR INLINE void run(struct ahead *ahead, const uint8_t *key, const struct ctun_aead_job *job, uint8_t *tag,
                       bool opening) {
    uint8_t one_time_key[32];
    uint32_t state[16];
    const uint8_t *sealed = opening ? job->input : job->output;
    struct poly poly = {0};
    struct ready ready = {sealed, 0};

    bool expected = ahead->counter == job->counter && same_key(ahead->key, key);
    begin_state(state, key, job->counter);
    if (expected && ahead->made)
        state[12] = LANES;
    else
        make_stream(state, ahead->stream, &poly, &ready);
    memcpy(one_time_key, ahead->stream, sizeof one_time_key);
    poly = poly_begin(one_time_key);
    size_t done = smaller(job->length, PASS - BLOCK);
    mix(job->output, job->input, ahead->stream + BLOCK, done);
    while (done < job->length) {
        ready.blocks = ((opening ? job->length : done) - (size_t)(ready.bytes - sealed)) / POLY;
        make_stream(state, ahead->stream, &poly, &ready);
        size_t count = smaller(job->length - done, PASS);
        mix(job->output + done, job->input + done, ahead->stream, count);
        done += count;
    }
    memcpy(ahead->key, key, sizeof ahead->key);
    ahead->counter = job->counter + 1;
    ahead->made = expected;
    if (expected) {
        begin_state(state, key, ahead->counter);
        ready.blocks = (job->length - (size_t)(ready.bytes - sealed)) / POLY;
        make_stream(state, ahead->stream, &poly, &ready);
    }
    size_t left = job->length - (size_t)(ready.bytes - sealed);
    poly_finish(&poly, ready.bytes, left, job->length, one_time_key + 16, tag);

    sodium_memzero(one_time_key, sizeof one_time_key);
    sodium_memzero(state, sizeof state);
}

VECTOR INLINE void seal_each(struct ahead *ahead, const uint8_t *key, struct ctun_aead_job *jobs, size_t count) {
    for (size_t i = 0; i < count; i++)
        run(ahead, key, &jobs[i], jobs[i].output + jobs[i].length, false);
}

VECTOR INLINE void open_each(struct ahead *ahead, const uint8_t *key, struct ctun_aead_job *jobs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        uint8_t tag[CTUN_AEAD_TAG];
        run(ahead, key, &jobs[i], tag, true);
        jobs[i].authentic = ctun_aead_same_tag(tag, jobs[i].input + jobs[i].length);
    }
}

// The same code twice: with AVX-512VL the rotations are one instruction each and 32 registers hold the whole state.
VECTOR static void seal_avx2(void *state, const uint8_t *key, struct ctun_aead_job *jobs, size_t count) {
    seal_each(state, key, jobs, count);
}

VECTOR static void open_avx2(void *state, const uint8_t *key, struct ctun_aead_job *jobs, size_t count) {
    open_each(state, key, jobs, count);
}

#define VECTOR512 __attribute__((target("avx2,bmi2,avx512f,avx512vl,avx512bw")))

VECTOR512 static void seal_avx512(void *state, const uint8_t *key, struct ctun_aead_job *jobs, size_t count) {
    seal_each(state, key, jobs, count);
}

VECTOR512 static void open_avx512(void *state, const uint8_t *key, struct ctun_aead_job *jobs, size_t count) {
    open_each(state, key, jobs, count);
}

static void *state_create(void) {
    if (sodium_init() < 0) return NULL;
    struct ahead *ahead = aligned_alloc(_Alignof(struct ahead), sizeof *ahead);
    if (ahead) memset(ahead, 0, sizeof *ahead);
    return ahead;
}

static void state_destroy(void *state) {
    sodium_memzero(state, sizeof(struct ahead));
    free(state);
}

bool ctun_aead_has_avx512(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw");
}

const struct ctun_aead_backend *ctun_aead_stitched(void) {
    static const struct ctun_aead_backend avx2 = {"stitched AVX2", state_create, state_destroy, seal_avx2, open_avx2};
    static const struct ctun_aead_backend avx512 = {"stitched AVX-512", state_create, state_destroy, seal_avx512,
                                                    open_avx512};
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2"))
        return NULL;
    return ctun_aead_has_avx512() ? &avx512 : &avx2;
}

#else

bool ctun_aead_has_avx512(void) { return false; }

const struct ctun_aead_backend *ctun_aead_stitched(void) { return NULL; }

#endif
