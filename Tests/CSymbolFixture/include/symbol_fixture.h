// Functions whose places in the source the tests of symbols know.

#ifndef SYMBOL_FIXTURE_H
#define SYMBOL_FIXTURE_H

#include <stdint.h>

// The return address inside fixture_outer, behind the call that fixture_middle makes where it was inlined.
uint64_t fixture_outer(void);

// An address whose code has no line, and the line before it.
uint64_t fixture_merged(void);
int fixture_known_line(void);

// The preprocessor's record of the lines that take part.
int fixture_call_line(void);
int fixture_inline_line(void);
const char *fixture_file(void);

// The return address in whoever calls it. Whoever does hands the address to fixture_keep, which gives it back: a call
// at the very end of a function would be made a jump. The number keeps functions apart that would be merged otherwise.
uint64_t fixture_caller(void);
uint64_t fixture_keep(uint64_t address, int number);

// A module that is mapped into this process.
typedef struct fixture_module {
    char path[4096];
    char buildID[129];
    uint64_t bias, start, end;
} fixture_module;

// The module of that index; 0: there are no more.
int fixture_module_at(int index, fixture_module *module);

#endif
