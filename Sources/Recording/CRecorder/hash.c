#include "recorder.h"

#include <string.h>

// SipHash-2-4 (Aumasson and Bernstein, 2012), chosen because a trace must not let anyone verify guesses of a value.

#define ROTATE(word, bits) (((word) << (bits)) | ((word) >> (64 - (bits))))

static void sip_round(uint64_t v[4]) {
    v[0] += v[1]; v[1] = ROTATE(v[1], 13); v[1] ^= v[0]; v[0] = ROTATE(v[0], 32);
    v[2] += v[3]; v[3] = ROTATE(v[3], 16); v[3] ^= v[2];
    v[0] += v[3]; v[3] = ROTATE(v[3], 21); v[3] ^= v[0];
    v[2] += v[1]; v[1] = ROTATE(v[1], 17); v[1] ^= v[2]; v[2] = ROTATE(v[2], 32);
}

static void add_word(uint64_t v[4], uint64_t word) {
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
}

uint64_t fl_hash(const uint64_t key[2], const void *bytes, size_t length) {
    uint64_t v[4] = {
        key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
        key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u,
    };
    const char *place = bytes;
    uint64_t word;
    for (const char *end = place + length / 8 * 8; place < end; place += 8) {
        memcpy(&word, place, sizeof word);
        add_word(v, word);
    }
    word = (uint64_t)length << 56;
    for (size_t index = 0; index < length % 8; index++) { word |= (uint64_t)(uint8_t)place[index] << 8 * index; }
    add_word(v, word);
    v[2] ^= 0xff;
    for (int round = 0; round < 4; round++) { sip_round(v); }
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t fl_keyed_hash(const fl_recorder *recorder, const void *bytes, size_t length) {
    return fl_hash(recorder->key, bytes, length);
}
