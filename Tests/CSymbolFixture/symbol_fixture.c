#define _GNU_SOURCE
#include "symbol_fixture.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

__attribute__((noinline)) uint64_t fixture_caller(void) {
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

__attribute__((noinline)) uint64_t fixture_keep(uint64_t address, int number) {
    __asm__ volatile("" ::"r"(number) : "memory");
    return address;
}

static int known_line;

// The call is on line 0, as one that the optimizer put together from two places.
__attribute__((noinline)) uint64_t fixture_merged(void) {
    known_line = __LINE__;
#line 0
    uint64_t address = fixture_caller();
#line 60
    return fixture_keep(address, 0);
}

int fixture_known_line(void) { return known_line; }

// MARK: - Modules

typedef struct search {
    int left;
    fixture_module *module;
} search;

static void read_build_id(const char *notes, size_t length, char *text) {
    for (size_t at = 0; at + sizeof(ElfW(Nhdr)) <= length;) {
        const ElfW(Nhdr) *note = (const void *)(notes + at);
        size_t content = at + sizeof *note + (note->n_namesz + 3) / 4 * 4;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_descsz <= 64) {
            for (size_t index = 0; index < note->n_descsz; index++) {
                snprintf(text + 2 * index, 3, "%02x", (unsigned char)notes[content + index]);
            }
        }
        at = content + (note->n_descsz + 3) / 4 * 4;
    }
}

static int visit(struct dl_phdr_info *info, size_t size, void *context) {
    (void)size;
    search *wanted = context;
    if (wanted->left-- > 0) { return 0; }
    fixture_module *module = wanted->module;
    memset(module, 0, sizeof *module);
    module->bias = info->dlpi_addr;
    module->start = UINT64_MAX;
    snprintf(module->path, sizeof module->path, "%s", info->dlpi_name);
    if (module->path[0] == 0 && readlink("/proc/self/exe", module->path, sizeof module->path - 1) < 0) { return 0; }
    for (int index = 0; index < info->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[index];
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD) {
            if (start < module->start) { module->start = start; }
            if (start + header->p_memsz > module->end) { module->end = start + header->p_memsz; }
        } else if (header->p_type == PT_NOTE) {
            read_build_id((const char *)(uintptr_t)start, header->p_memsz, module->buildID);
        }
    }
    return 1;
}

int fixture_module_at(int index, fixture_module *module) {
    search wanted = {index, module};
    return dl_iterate_phdr(visit, &wanted);
}
