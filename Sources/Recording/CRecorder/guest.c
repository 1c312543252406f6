#define _GNU_SOURCE
#include "faultline_guest.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

FL_THREAD_LOCAL fl_stack_bounds fl_own_bounds;

bool fl_confined;

// MARK: - The thread's stack

void fl_find_stack(void) {
    pthread_attr_t attributes;
    int saved = errno, before = fl_shield();
    if (fl_own_bounds.high == 0 && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        void *low = NULL;
        size_t size = 0;
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
        fl_own_bounds = (fl_stack_bounds){.low = (uintptr_t)low, .high = (uintptr_t)low + size};
    }
    fl_unshield(before);
    errno = saved;
}

// MARK: - The recorder's stack

#define STACK_BYTES (512u << 10)
#define GUARD_BYTES 65536

// The upper end of the memory for a thread's second stack.
typedef struct own_stack {
    char *memory;
    bool is_used;
    uintptr_t frame;  // of the function that left the thread's stack
    void (*work)(void *);
    void *argument;
    // They take a kilobyte each.
    ucontext_t program, here;
} own_stack;

static FL_THREAD_LOCAL own_stack *own;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;

static void leave_thread(void *stack) {
    own = NULL;
    munmap(((own_stack *)stack)->memory, STACK_BYTES);
}

static void make_key(void) { pthread_key_create(&key, leave_thread); }

static own_stack *make_stack(void) {
    pthread_once(&once, make_key);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
    char *memory = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory == MAP_FAILED) { return NULL; }
    mprotect(memory, GUARD_BYTES, PROT_NONE);
    own_stack *stack = (own_stack *)(void *)(memory + ((STACK_BYTES - sizeof(own_stack)) & ~(size_t)63));
    stack->memory = memory;
    if (pthread_setspecific(key, stack) != 0) {
        munmap(memory, STACK_BYTES);
        return NULL;
    }
    return stack;
}

static bool is_on(const own_stack *stack, uintptr_t address) {
    return stack != NULL && address - (uintptr_t)stack->memory < STACK_BYTES;
}

static void begin(void) { own->work(own->argument); }

// A handler of the program would run on this stack, and could leave it by longjmp. Signals that an instruction causes cannot
// wait.
static void block_signals(sigset_t *signals) {
    static const int immediate[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigfillset(signals);
    for (size_t index = 0; index < sizeof immediate / sizeof *immediate; index++) { sigdelset(signals, immediate[index]); }
}

// Signals may run on the thread's stack again when this returns.
static void do_there(own_stack *stack) {
    getcontext(&stack->here);
    stack->here.uc_stack.ss_sp = stack->memory + GUARD_BYTES;
    stack->here.uc_stack.ss_size = (size_t)((char *)stack - stack->memory) - GUARD_BYTES;
    stack->here.uc_link = &stack->program;
    block_signals(&stack->here.uc_sigmask);
    makecontext(&stack->here, begin, 0);
    swapcontext(&stack->program, &stack->here);
}

__attribute__((noinline)) bool fl_do_apart(void (*work)(void *), void *argument, bool may_make) {
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (is_on(own, frame)) {
        work(argument);
        return true;
    }
    int saved = errno;
    if (own == NULL && may_make) { own = make_stack(); }
    own_stack *stack = own;
    // A coroutine that the work belonged to has been left in the middle of it.
    bool is_free = stack != NULL && !stack->is_used;
    if (is_free) {
        stack->is_used = true;
        stack->frame = frame;
        stack->work = work;
        stack->argument = argument;
        errno = saved;
        do_there(stack);
        saved = errno;
        stack->is_used = false;
    }
    errno = saved;
    return is_free;
}

__attribute__((noinline)) bool fl_make_room(void (*work)(void *), void *argument) {
    fl_find_stack();
    if (!fl_has_room()) { return fl_do_apart(work, argument, true); }
    work(argument);
    return true;
}

uintptr_t fl_frame_of_program(uintptr_t frame) { return is_on(own, frame) ? own->frame : frame; }
