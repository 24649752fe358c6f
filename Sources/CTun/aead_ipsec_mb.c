#include "ctun_aead.h"

#if defined(__x86_64__)

#include <string.h>

#include <intel-ipsec-mb.h>
#include <sodium.h>

// The library's manager with its job queue; the nonces and tags of a batch live beside it so that jobs may complete late.
enum { QUEUE = 32 };

struct state {
    IMB_MGR *manager;
    uint8_t nonces[QUEUE][16];
    uint8_t tags[QUEUE][CTUN_AEAD_TAG];
};

static void state_destroy(void *pointer) {
    struct state *state = pointer;
    // Round keys and one-time keys stay in the manager's buffers.
    sodium_memzero(state->manager, imb_get_mb_mgr_size());
    free_mb_mgr(state->manager);
    sodium_free(state);
}

static void *state_create(void) {
    if (sodium_init() < 0)
        return NULL;
    struct state *state = sodium_malloc(sizeof *state);
    if (!state)
        return NULL;
    memset(state, 0, sizeof *state);
    state->manager = alloc_mb_mgr(0);
    if (!state->manager) {
        sodium_free(state);
        return NULL;
    }
    IMB_ARCH architecture;
    init_mb_mgr_auto(state->manager, &architecture);
    if (imb_get_errno(state->manager) != 0) {
        state_destroy(state);
        return NULL;
    }
    return state;
}

static void submit(struct state *state, const uint8_t *key, const struct ctun_aead_job *job, uint8_t *tag,
                   uint8_t *nonce, IMB_CIPHER_DIRECTION direction) {
    IMB_JOB *work = IMB_GET_NEXT_JOB(state->manager);
    memset(nonce, 0, 4);
    memcpy(nonce + 4, &job->counter, 8);
    work->cipher_mode = IMB_CIPHER_CHACHA20_POLY1305;
    work->hash_alg = IMB_AUTH_CHACHA20_POLY1305;
    work->cipher_direction = direction;
    work->chain_order = direction == IMB_DIR_ENCRYPT ? IMB_ORDER_CIPHER_HASH : IMB_ORDER_HASH_CIPHER;
    work->enc_keys = key;
    work->dec_keys = key;
    work->key_len_in_bytes = CTUN_AEAD_KEY;
    work->iv = nonce;
    work->iv_len_in_bytes = 12;
    work->src = job->input;
    work->dst = job->output;
    work->cipher_start_src_offset_in_bytes = 0;
    work->msg_len_to_cipher_in_bytes = job->length;
    work->hash_start_src_offset_in_bytes = 0;
    work->msg_len_to_hash_in_bytes = job->length;
    work->u.CHACHA20_POLY1305.aad = NULL;
    work->u.CHACHA20_POLY1305.aad_len_in_bytes = 0;
    work->auth_tag_output = tag;
    work->auth_tag_output_len_in_bytes = CTUN_AEAD_TAG;
    IMB_SUBMIT_JOB_NOCHECK(state->manager);
}

static void finish(struct state *state) {
    while (IMB_FLUSH_JOB(state->manager)) {
    }
}

// The library takes no empty message; those are keep-alives and rare.
static void seal(void *pointer, const uint8_t *key, struct ctun_aead_job *jobs, size_t count) {
    struct state *state = pointer;
    for (size_t done = 0; done < count; done += QUEUE) {
        size_t end = count - done < QUEUE ? count : done + QUEUE;
        for (size_t i = done; i < end; i++) {
            if (jobs[i].length == 0)
                ctun_aead_sodium()->seal(state, key, &jobs[i], 1);
            else
                submit(state, key, &jobs[i], jobs[i].output + jobs[i].length, state->nonces[i - done],
                       IMB_DIR_ENCRYPT);
        }
        finish(state);
    }
}

static void open(void *pointer, const uint8_t *key, struct ctun_aead_job *jobs, size_t count) {
    struct state *state = pointer;
    for (size_t done = 0; done < count; done += QUEUE) {
        size_t end = count - done < QUEUE ? count : done + QUEUE;
        for (size_t i = done; i < end; i++) {
            if (jobs[i].length == 0)
                ctun_aead_sodium()->open(state, key, &jobs[i], 1);
            else
                submit(state, key, &jobs[i], state->tags[i - done], state->nonces[i - done], IMB_DIR_DECRYPT);
        }
        finish(state);
        for (size_t i = done; i < end; i++)
            if (jobs[i].length != 0)
                jobs[i].authentic =
                    ctun_aead_same_tag(state->tags[i - done], jobs[i].input + jobs[i].length);
    }
}

const struct ctun_aead_backend *ctun_aead_ipsec_mb(void) {
    static const struct ctun_aead_backend backend = {"libipsec-mb", state_create, state_destroy, seal, open};
    return &backend;
}

#else

const struct ctun_aead_backend *ctun_aead_ipsec_mb(void) { return NULL; }

#endif
