/* SHA-256 (FIPS 180-4), for the platforms that have none for C. */
#ifndef OPTLDP_SHA256_H
#define OPTLDP_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct sha256 {
    uint32_t state[8];
    uint64_t size;
    unsigned char block[64];
} sha256;

void sha256_begin(sha256 *hash);
void sha256_add(sha256 *hash, const void *bytes, size_t size);
void sha256_end(sha256 *hash, unsigned char digest[32]);

#endif
