// What the preloaded library exports beside SQLite's functions.

#ifndef FAULTLINE_PRELOAD_EXPORTS_H
#define FAULTLINE_PRELOAD_EXPORTS_H

// Stops recording the process and its future children from outside. Faultline's own recorder looks this up by name and
// calls it, because it records the program's store with more detail.
void faultline_preload_stand_down(void);

// Lets the recorder of a program that records itself sample the program's threads: `enter_thread` is called in each new
// thread, and the program cannot block or handle `signal`.
void faultline_preload_join(void (*enter_thread)(void), int signal);

#endif
