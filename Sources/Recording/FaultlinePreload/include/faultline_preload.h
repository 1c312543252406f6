// The exports of the preloaded library, beside SQLite's functions.

#ifndef FAULTLINE_PRELOAD_EXPORTS_H
#define FAULTLINE_PRELOAD_EXPORTS_H

#include <faultline_sampler.h>

// Stops recording the process and its future children from outside. Faultline's own recorder looks this up by name and
// calls it, because it records the program's store with more detail.
void faultline_preload_stand_down(void);

// Lets the sampler of a recorder that the program contains see the program's threads. The client must live as long as the
// process.
void faultline_preload_join(const fl_sampler_client *client);

#endif
