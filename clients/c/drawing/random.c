/* The platform's secure generator. */
#define _DEFAULT_SOURCE /* getentropy */
#include "table.h"

#ifdef _WIN32
#include <windows.h>
#include <bcrypt.h>

int optldp_random(void *bytes, size_t size) {
    if (size > 0xffffffffu) return -1;
    return BCryptGenRandom(NULL, bytes, (ULONG)size, BCRYPT_USE_SYSTEM_PREFERRED_RNG) == 0 ? 0 : -1;
}
#else
#include <sys/random.h>
#include <unistd.h>

#define MOST 256 /* bytes that getentropy gives at once: all or none */

int optldp_random(void *bytes, size_t size) {
    unsigned char *next = bytes;
    while (size > 0) {
        size_t part = size < MOST ? size : MOST;
        if (getentropy(next, part) != 0) return -1;
        next += part;
        size -= part;
    }
    return 0;
}
#endif
