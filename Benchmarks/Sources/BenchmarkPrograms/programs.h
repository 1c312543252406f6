#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <stdint.h>

// The size of the work.
#define PROGRAM_ROWS 10000
#define PROGRAM_POINTS 200000
#define PROGRAM_SCANS 50
#define PROGRAM_ROUNDS 300000000

#ifdef __cplusplus
extern "C" {
#endif

// Fills and empties maps of strings: work for the allocator.
int64_t program_maps(void);

#ifdef __cplusplus
}
#endif

#endif
