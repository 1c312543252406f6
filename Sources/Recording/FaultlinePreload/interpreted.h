// The functions of interpreted languages in the dictionary, and their stacks.

#ifndef FAULTLINE_INTERPRETED_H
#define FAULTLINE_INTERPRETED_H

#include "preload.h"

#define FRAMES_MAXIMUM 64
#define FILE_BYTES 1024
#define NAME_BYTES 900

// Working memory for the description of a frame.
typedef struct frame_text {
    char names[FILE_BYTES + NAME_BYTES + sizeof(int)];
    char entry[2 * FILE_BYTES + 2 * NAME_BYTES + 256];
} frame_text;

// Writes the dictionary entry of a function's line to `text->entry` and returns its length. `text->names` has the path of the
// function's file and its name, which have these lengths. A line below 0 is not known. `address` is set to the number that
// stands for an address; no code has addresses with its highest bit. Safe in a signal handler.
size_t preload_write_frame(
    fl_recorder *recorder, frame_text *text, size_t file, size_t name, int line, const char *language, uint64_t *address);

// A stack is its number in the dictionary and these bits.
#define PRELOAD_TRUNCATED (1ull << 32)  // it is cut off
#define PRELOAD_IN_SCOPE (1ull << 33)   // it is in a request, a test or a job
#define PRELOAD_OF_WORKER (1ull << 34)  // it is that of a worker

// Looks up the stack that was kept under a key; the first stack of a key stands for all with it.
bool preload_find_stack(uint64_t key, uint64_t *stack);

// Adds the stack with these functions to the dictionary, and keeps it under a key with the bits. 0 if it has no number.
uint64_t preload_keep_stack(fl_recorder *recorder, uint64_t key, const fl_interpreted *interpreted, uint64_t bits);

// Looks for an interpreter of PHP or Ruby, unless one was found.
void preload_find_scripts(void);

// Held while the process forks.
void preload_lock_scripts(void);
void preload_unlock_scripts(void);

// The calling thread's stack, with the functions of Ruby, or the line of PHP; 0 if there are none.
uint64_t preload_script_stack(fl_recorder *recorder);

#endif
