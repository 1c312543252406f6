#include "symbol_fixture.h"

static int call_line;
static int inline_line;

__attribute__((noinline)) static uint64_t fixture_leaf(void) {
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

__attribute__((always_inline)) static inline uint64_t fixture_middle(void) {
    call_line = __LINE__ + 1;
    uint64_t address = fixture_leaf();
    __asm__ volatile("" ::: "memory");
    return address;
}

__attribute__((noinline)) uint64_t fixture_outer(void) {
    inline_line = __LINE__ + 1;
    uint64_t address = fixture_middle();
    __asm__ volatile("" ::: "memory");
    return address;
}

int fixture_call_line(void) { return call_line; }
int fixture_inline_line(void) { return inline_line; }
const char *fixture_file(void) { return __FILE__; }
