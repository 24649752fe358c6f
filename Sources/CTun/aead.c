#include "ctun_aead.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <sodium.h>

static void make_nonce(uint8_t nonce[12], uint64_t counter) {
    memset(nonce, 0, 4);
    for (int i = 0; i < 8; i++)
        nonce[4 + i] = (uint8_t)(counter >> (8 * i));
}

// libsodium keeps no state between calls; the pointer only has to be something.
static int stateless;

static void *sodium_state_create(void) { return sodium_init() < 0 ? NULL : &stateless; }
static void sodium_state_destroy(void *state) { (void)state; }

static void sodium_seal(void *state, const uint8_t *key, struct ctun_aead_job *jobs, size_t count) {
    (void)state;
    for (size_t i = 0; i < count; i++) {
        uint8_t nonce[12];
        make_nonce(nonce, jobs[i].counter);
        crypto_aead_chacha20poly1305_ietf_encrypt(jobs[i].output, NULL, jobs[i].input, jobs[i].length, NULL, 0, NULL,
                                                  nonce, key);
    }
}

static void sodium_open(void *state, const uint8_t *key, struct ctun_aead_job *jobs, size_t count) {
    (void)state;
    for (size_t i = 0; i < count; i++) {
        uint8_t nonce[12];
        make_nonce(nonce, jobs[i].counter);
        jobs[i].authentic = crypto_aead_chacha20poly1305_ietf_decrypt(jobs[i].output, NULL, NULL, jobs[i].input,
                                                                      jobs[i].length + CTUN_AEAD_TAG, NULL, 0, nonce,
                                                                      key) == 0;
    }
}

const struct ctun_aead_backend *ctun_aead_sodium(void) {
    static const struct ctun_aead_backend backend = {
        "libsodium", sodium_state_create, sodium_state_destroy, sodium_seal, sodium_open,
    };
    return &backend;
}

// As words: sodium_memcmp goes byte by byte, which took a twentieth of the time to open a packet.
bool ctun_aead_same_tag(const uint8_t one[CTUN_AEAD_TAG], const uint8_t other[CTUN_AEAD_TAG]) {
    uint64_t a[2], b[2];
    memcpy(a, one, sizeof a);
    memcpy(b, other, sizeof b);
    return ((a[0] ^ b[0]) | (a[1] ^ b[1])) == 0;
}

void ctun_zero(void *bytes, size_t length) { sodium_memzero(bytes, length); }

enum { LONGEST = 2048 };

static void fill(uint8_t *bytes, size_t length, uint64_t *seed) {
    for (size_t i = 0; i < length; i++) {
        *seed ^= *seed << 13;
        *seed ^= *seed >> 7;
        *seed ^= *seed << 17;
        bytes[i] = (uint8_t)*seed;
    }
}

// Runs a job after two with the counters before it: once messages follow one another, a back end may work ahead.
static void run_third(void (*each)(void *, const uint8_t *, struct ctun_aead_job *, size_t), void *state,
                      const uint8_t *key, struct ctun_aead_job *job) {
    job->counter -= 2;
    each(state, key, job, 1);
    job->counter++;
    each(state, key, job, 1);
    job->counter++;
    each(state, key, job, 1);
}

static bool agrees(const struct ctun_aead_backend *backend, void *state, uint32_t length, uint64_t *seed) {
    uint8_t key[CTUN_AEAD_KEY], plain[LONGEST], opened[LONGEST];
    uint8_t ours[LONGEST + CTUN_AEAD_TAG + 1], theirs[LONGEST + CTUN_AEAD_TAG];
    uint64_t counter;
    fill(key, sizeof key, seed);
    fill(plain, length, seed);
    fill((uint8_t *)&counter, sizeof counter, seed);
    ours[length + CTUN_AEAD_TAG] = 0xa5;
    struct ctun_aead_job job = {.input = plain, .output = ours, .counter = counter, .length = length};
    struct ctun_aead_job reference = {.input = plain, .output = theirs, .counter = counter, .length = length};
    run_third(backend->seal, state, key, &job);
    sodium_seal(&stateless, key, &reference, 1);
    if (memcmp(ours, theirs, length + CTUN_AEAD_TAG) != 0 || ours[length + CTUN_AEAD_TAG] != 0xa5)
        return false;
    struct ctun_aead_job back = {.input = theirs, .output = opened, .counter = counter, .length = length};
    run_third(backend->open, state, key, &back);
    if (!back.authentic || memcmp(opened, plain, length) != 0)
        return false;
    // The same once more is not what was to follow.
    backend->open(state, key, &back, 1);
    if (!back.authentic || memcmp(opened, plain, length) != 0)
        return false;
    theirs[(size_t)(counter % (length + CTUN_AEAD_TAG))] ^= 0x10;
    backend->open(state, key, &back, 1);
    return !back.authentic;
}

bool ctun_aead_self_test(const struct ctun_aead_backend *backend) {
    if (sodium_init() < 0)
        return false;
    void *state = backend->create();
    if (!state)
        return false;
    uint64_t seed = 0x9e3779b97f4a7c15u;
    bool good = true;
    // Lengths around every block and vector border, then a spread up to a jumbo segment.
    for (uint32_t length = 0; good && length <= 320; length++)
        good = agrees(backend, state, length, &seed);
    for (uint32_t length = 321; good && length <= LONGEST; length += 1 + (uint32_t)(seed % 61))
        good = agrees(backend, state, length, &seed);
    backend->destroy(state);
    return good;
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t ctun_aead_time(const struct ctun_aead_backend *backend, uint64_t budget) {
    enum { SIZE = 1420, ROUND = 32 };
    uint8_t key[CTUN_AEAD_KEY] = {1}, plain[SIZE] = {2}, sealed[SIZE + CTUN_AEAD_TAG];
    void *state = backend->create();
    if (!state)
        return 0;
    uint64_t start = now(), best = UINT64_MAX, before = start, after;
    do {
        for (uint64_t i = 0; i < ROUND; i++) {
            struct ctun_aead_job job = {.input = plain, .output = sealed, .counter = i, .length = SIZE};
            backend->seal(state, key, &job, 1);
        }
        after = now();
        if (after - before < best)
            best = after - before;
        before = after;
    } while (after - start < budget);
    backend->destroy(state);
    return best / ROUND + (best / ROUND == 0);
}
