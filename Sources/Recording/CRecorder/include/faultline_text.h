// Writing text into a buffer that has room for it, and for 20 bytes more. Each function returns the end of its output.

#ifndef FAULTLINE_TEXT_H
#define FAULTLINE_TEXT_H

#include <stdint.h>
#include <string.h>

static inline char *fl_put_text(char *out, const char *text) {
    size_t length = strlen(text);
    memcpy(out, text, length);
    return out + length;
}

static inline char *fl_put_number(char *out, uint64_t number) {
    // Two digits at a time, because a division takes longer than looking them up.
    static const char pairs[] =
        "0001020304050607080910111213141516171819202122232425262728293031323334353637383940414243444546474849"
        "5051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";
    enum { MOST = 20 };
    char digits[2 * MOST], *end = digits + MOST, *place = end;
    while (number >= 100) {
        place -= 2;
        memcpy(place, pairs + 2 * (number % 100), 2);
        number /= 100;
    }
    if (number >= 10) {
        place -= 2;
        memcpy(place, pairs + 2 * number, 2);
    } else {
        *--place = (char)('0' + number);
    }
    // A copy of constant length needs no call; the rest is overwritten by what follows.
    memcpy(out, place, MOST);
    return out + (end - place);
}

static inline char *fl_put_hexadecimal(char *out, uint64_t number, int width) {
    static const char digits[] = "0123456789abcdef";
    char reversed[16];
    int count = 0;
    do {
        reversed[count++] = digits[number & 15];
        number >>= 4;
    } while (number != 0 || count < width);
    while (count > 0) { *out++ = reversed[--count]; }
    return out;
}

#endif
