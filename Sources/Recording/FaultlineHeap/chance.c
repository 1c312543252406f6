#include "heap.h"

#include <string.h>

// Logarithm and exponential function, to the few digits that sampling needs: the library does not link the mathematical
// one, which programs may not have.

// The natural logarithm of a number between 0 and 1.
static double logarithm(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    bits = (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull;
    double mantissa;
    memcpy(&mantissa, &bits, sizeof mantissa);
    // ln m = 2 artanh((m − 1) / (m + 1)), whose argument is below a third.
    double ratio = (mantissa - 1) / (mantissa + 1), square = ratio * ratio, sum = 0;
    for (int power = 15; power >= 1; power -= 2) { sum = sum * square + 1.0 / power; }
    return exponent * 0.6931471805599453 + 2 * ratio * sum;
}

// e to the power of a negative number.
static double exponential(double number) {
    if (number < -40) { return 0; }
    // Halved until its series converges within a few terms.
    int halvings = 0;
    while (number < -0.25) {
        number /= 2;
        halvings++;
    }
    double sum = 1;
    for (int term = 8; term >= 1; term--) { sum = 1 + sum * number / term; }
    for (; halvings > 0; halvings--) { sum *= sum; }
    return sum;
}

double heap_fraction(uint64_t *state) {
    // xorshift64* (Vigna 2016), whose state is never 0.
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    uint64_t random = *state * 0x2545f4914f6cdd1dull;
    return ((double)(random >> 11) + 0.5) / 9007199254740992.0;
}

int64_t heap_next_distance(uint64_t *state, uint64_t interval) {
    double distance = -logarithm(heap_fraction(state)) * (double)interval;
    return distance < 1 ? 1 : (int64_t)distance;
}

double heap_weight(size_t size, uint64_t interval) {
    double ratio = (double)size / (double)interval;
    // 1 − e^−x loses its digits where x is small.
    double probability = ratio < 1e-4 ? ratio * (1 - ratio / 2) : 1 - exponential(-ratio);
    return probability > 0 ? 1 / probability : 1;
}
