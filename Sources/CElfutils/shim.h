// elfutils for Swift, and the demanglers that the process holds anyway.

#ifndef FAULTLINE_ELFUTILS_SHIM_H
#define FAULTLINE_ELFUTILS_SHIM_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Exported by libswiftCore, declared by no header. The result is the caller's to free; null: not a Swift symbol.
extern char *swift_demangle(
    const char *name, size_t length, char *buffer, size_t *bufferSize, uint32_t flags);

// Of the C++ ABI, exported by libstdc++.
extern char *__cxa_demangle(const char *name, char *buffer, size_t *bufferSize, int *status);

// A session on one file, whose addresses stay those of the file; null: it is no ELF file, or cannot be read.
static inline Dwfl *ftl_elf_open(const char *path) {
    // Swift cannot take the addresses of these functions with the types that the table wants. The path of separate
    // debug files is the library's default: beside the file, in .debug, and by build ID in /usr/lib/debug.
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = NULL,
    };
    Dwfl *session = dwfl_begin(&callbacks);
    if (session == NULL) { return NULL; }
    dwfl_report_begin(session);
    Dwfl_Module *module = dwfl_report_elf(session, path, path, -1, 0, true);
    if (module == NULL || dwfl_report_end(session, NULL, NULL) != 0) {
        dwfl_end(session);
        return NULL;
    }
    return session;
}

static inline int ftl_elf_take_first(
    Dwfl_Module *module, void **data, const char *name, Dwarf_Addr start, void *result
) {
    (void)data; (void)name; (void)start;
    *(Dwfl_Module **)result = module;
    return DWARF_CB_ABORT;
}

// The session's one module.
static inline Dwfl_Module *ftl_elf_module(Dwfl *session) {
    Dwfl_Module *module = NULL;
    dwfl_getmodules(session, ftl_elf_take_first, &module, 0);
    return module;
}

#endif
