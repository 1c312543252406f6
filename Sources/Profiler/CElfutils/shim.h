// elfutils for Swift, and the demanglers that every process contains.

#ifndef FAULTLINE_ELFUTILS_SHIM_H
#define FAULTLINE_ELFUTILS_SHIM_H

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// Exported by libswiftCore, but declared in no header. The caller frees the result; null if the name is not a Swift
// symbol.
extern char *swift_demangle(
    const char *name, size_t length, char *buffer, size_t *bufferSize, uint32_t flags);

// Part of the C++ ABI, exported by libstdc++.
extern char *__cxa_demangle(const char *name, char *buffer, size_t *bufferSize, int *status);

// Whether a path names a regular file or nothing.
static inline bool ftl_elf_is_harmless(const char *directory, int length, const char *folder, const char *name) {
    char path[4096];
    struct stat status;
    int size = snprintf(path, sizeof path, "%.*s%s%s", length, directory, folder, name);
    if (size < 0 || (size_t)size >= sizeof path) { return false; }
    return stat(path, &status) != 0 || S_ISREG(status.st_mode);
}

// Finds separate debug information like libdwfl, unless the program names a pipe or a device, which libdwfl would open
// and wait for. The name in the program is that of a file beside it, in .debug, or below /usr/lib/debug.
static inline int ftl_elf_find_debuginfo(
    Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file, const char *link,
    GElf_Word checksum, char **result
) {
    if (file != NULL && link != NULL) {
        const char *slash = strrchr(file, '/');
        int length = slash == NULL ? 0 : (int)(slash - file) + 1;
        if (strchr(link, '/') != NULL || !ftl_elf_is_harmless(file, length, "", link)
            || !ftl_elf_is_harmless(file, length, ".debug/", link)) {
            return -1;
        }
    }
    return dwfl_standard_find_debuginfo(module, data, name, base, file, link, checksum, result);
}

// Opens a session on one file, without relocating its addresses; null if it is not an ELF file or cannot be read. On
// success, the session owns the descriptor, if there is one.
static inline Dwfl *ftl_elf_open(const char *path, int descriptor) {
    // Defined in C because Swift cannot form pointers to these functions with the types that the table requires.
    // Separate debug files are searched in the library's default places: beside the file, in .debug, and by build ID
    // in /usr/lib/debug.
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = ftl_elf_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = NULL,
    };
    Dwfl *session = dwfl_begin(&callbacks);
    if (session == NULL) { return NULL; }
    dwfl_report_begin(session);
    Dwfl_Module *module = dwfl_report_elf(session, path, path, descriptor, 0, true);
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

// The session's only module.
static inline Dwfl_Module *ftl_elf_module(Dwfl *session) {
    Dwfl_Module *module = NULL;
    dwfl_getmodules(session, ftl_elf_take_first, &module, 0);
    return module;
}

#endif
