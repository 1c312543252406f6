// memmem is a GNU extension.
#define _GNU_SOURCE

#include "cstore.h"

#include <string.h>

int cstore_contains(const void *text, size_t length, const void *wanted, size_t wantedLength) {
    return memmem(text, length, wanted, wantedLength) != NULL;
}
