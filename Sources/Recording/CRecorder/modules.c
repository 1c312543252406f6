#define _GNU_SOURCE
#include "faultline_sampler.h"
#include "faultline_text.h"
#include "recorder.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

// The programs and libraries that a process has mapped, to which addresses belong.

const void *fl_find_note(const struct dl_phdr_info *module, const char *name, uint32_t type, uint32_t *length) {
    uint32_t name_length = (uint32_t)strlen(name) + 1;
    for (int index = 0; index < module->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[index];
        if (header->p_type != PT_NOTE) { continue; }
        const char *note = (const char *)(module->dlpi_addr + header->p_vaddr), *end = note + header->p_memsz;
        while (note + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *fields = (const ElfW(Nhdr) *)(const void *)note;
            const char *found = note + sizeof *fields, *value = found + ((fields->n_namesz + 3) & ~3u);
            if (fields->n_type == type && fields->n_namesz == name_length && memcmp(found, name, name_length) == 0) {
                *length = fields->n_descsz;
                return value;
            }
            note = value + ((fields->n_descsz + 3) & ~3u);
        }
    }
    return NULL;
}

// Writes the module's build ID as hexadecimal digits, if it has one.
static char *put_build_id(char *out, const struct dl_phdr_info *module, size_t room) {
    uint32_t length = 0;
    const unsigned char *value = fl_find_note(module, ELF_NOTE_GNU, NT_GNU_BUILD_ID, &length);
    for (uint32_t byte = 0; value != NULL && byte < length && 2 * byte + 2 < room; byte++) {
        *out++ = "0123456789abcdef"[value[byte] >> 4];
        *out++ = "0123456789abcdef"[value[byte] & 15];
    }
    return out;
}

#define BUILD_ID_BYTES 128
#define PATH_BYTES 1024
#define MODULE_BYTES (PATH_BYTES + BUILD_ID_BYTES + 256)

// Writes the module's entry, without any function that a signal handler must not call.
static size_t describe(const struct dl_phdr_info *module, const char *path, char out[MODULE_BYTES]) {
    uint64_t start = UINT64_MAX, end = 0;
    for (int index = 0; index < module->dlpi_phnum; index++) {
        const ElfW(Phdr) *header = &module->dlpi_phdr[index];
        if (header->p_type != PT_LOAD) { continue; }
        uint64_t low = module->dlpi_addr + header->p_vaddr;
        if (low < start) { start = low; }
        if (low + header->p_memsz > end) { end = low + header->p_memsz; }
    }
    char *place = fl_put_hexadecimal(fl_put_text(out, "{\"bias\":\"0x"), module->dlpi_addr, 1);
    place = put_build_id(fl_put_text(place, "\",\"buildID\":\""), module, BUILD_ID_BYTES);
    place = fl_put_hexadecimal(fl_put_text(place, "\",\"end\":\"0x"), end, 1);
    place = fl_put_text(place, "\",\"path\":");
    place += fl_json_string(place, PATH_BYTES, path, strlen(path));
    place = fl_put_hexadecimal(fl_put_text(place, ",\"start\":\"0x"), start, 1);
    place = fl_put_text(place, "\"}");
    return (size_t)(place - out);
}

// The path of a module with the linker's name for it, which is empty for the program itself. Null for the kernel's vDSO,
// which has no file.
static const char *path_of(const fl_recorder *recorder, const char *name, bool is_program) {
    if (is_program) { return recorder->file->program; }
    return name == NULL || name[0] != '/' ? NULL : name;
}

// MARK: - All modules

typedef struct modules_context {
    fl_recorder *recorder;
    bool is_first;
} modules_context;

static int list_module(struct dl_phdr_info *module, size_t size, void *context) {
    (void)size;
    modules_context *listing = context;
    const char *path = path_of(listing->recorder, module->dlpi_name, listing->is_first);
    listing->is_first = false;
    if (path == NULL) { return 0; }
    char entry[MODULE_BYTES];
    fl_intern(listing->recorder, FL_DICTIONARY_MODULE, entry, describe(module, path, entry), "", 0);
    return 0;
}

// The linker counts the modules it has loaded; the list is walked only if the count has changed.
static int count_loaded(struct dl_phdr_info *module, size_t size, void *count) {
    (void)size;
    *(uint64_t *)count = module->dlpi_adds;
    return 1;
}

static void list_modules(void *context) { dl_iterate_phdr(list_module, context); }

void fl_list_modules(fl_recorder *recorder) {
    uint64_t loaded = 0;
    dl_iterate_phdr(count_loaded, &loaded);
    if (__atomic_load_n(&recorder->modules_seen, __ATOMIC_RELAXED) == loaded) { return; }
    __atomic_store_n(&recorder->modules_seen, loaded, __ATOMIC_RELAXED);
    modules_context listing = {.recorder = recorder, .is_first = true};
    fl_with_room(list_modules, &listing);
}

// MARK: - The module of an address

// The program headers of a module, which are in its first page where a linker has put them. Null if they are not.
static const ElfW(Phdr) *headers_at(const void *start, ElfW(Half) *count) {
    const ElfW(Ehdr) *file = start;
    if (memcmp(file->e_ident, ELFMAG, SELFMAG) != 0 || file->e_phentsize != sizeof(ElfW(Phdr))) { return NULL; }
    if (file->e_phoff + (uint64_t)file->e_phnum * sizeof(ElfW(Phdr)) > FL_PAGE) { return NULL; }
    *count = file->e_phnum;
    return (const ElfW(Phdr) *)(const void *)((const char *)start + file->e_phoff);
}

// Whether the instruction before an address in code is a call. `target` is set to the function that it calls, if that is
// part of the instruction, and otherwise to 0.
static bool follows_call(uint64_t address, uint64_t *target) {
    *target = 0;
#if defined(__x86_64__)
    const uint8_t *end = (const uint8_t *)(uintptr_t)address;
    if (end[-5] == 0xe8) {
        int32_t distance;
        memcpy(&distance, end - sizeof distance, sizeof distance);
        *target = address + (uint64_t)(int64_t)distance;
        return true;
    }
    // "call r/m64": the byte after 0xff has 2 in its middle bits, and an address of up to five bytes can follow.
    for (int length = 2; length <= 7; length++) {
        if (end[-length] == 0xff && (end[1 - length] & 0x38) == 0x10) { return true; }
    }
    return false;
#elif defined(__aarch64__)
    uint32_t word = ((const uint32_t *)(uintptr_t)address)[-1];
    return (word & 0xfc000000u) == 0x94000000u || (word & 0xfe000000u) == 0xd6000000u;
#else
    return true;
#endif
}

static bool returns_from_call(uint64_t address, uint64_t *target) {
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)address, &found) != 0) { return false; }
    ElfW(Half) count = 0;
    const ElfW(Phdr) *headers = headers_at(found.dlfo_map_start, &count);
    uint64_t offset = address - found.dlfo_link_map->l_addr;
    for (uint32_t index = 0; headers != NULL && index < count; index++) {
        const ElfW(Phdr) *header = &headers[index];
        bool is_code = header->p_type == PT_LOAD && (header->p_flags & (PF_R | PF_X)) == (PF_R | PF_X);
        if (!is_code || offset < header->p_vaddr + 8 || offset >= header->p_vaddr + header->p_memsz) { continue; }
        return follows_call(address, target);
    }
    return false;
}

bool fl_is_return_address(uint64_t address) {
    uint64_t target;
    return returns_from_call(address, &target);
}

// The longest distance from a function's beginning to an instruction in it that is taken to belong to it.
#define FUNCTION_BYTES 4096

bool fl_returns_from(uint64_t address, uint64_t instruction) {
    uint64_t target;
    return returns_from_call(address, &target) && target <= instruction && instruction - target < FUNCTION_BYTES;
}

void fl_list_module_of(fl_recorder *recorder, uint64_t address, bool *is_busy) {
    // One handler at a time runs this.
    static char entry[MODULE_BYTES];
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)address, &found) != 0) { return; }
    const struct link_map *map = found.dlfo_link_map;
    const char *path = path_of(recorder, map->l_name, map->l_name[0] == 0);
    struct dl_phdr_info module = {.dlpi_addr = map->l_addr};
    module.dlpi_phdr = headers_at(found.dlfo_map_start, &module.dlpi_phnum);
    if (path == NULL || module.dlpi_phdr == NULL) { return; }
    fl_intern_sampled(recorder, FL_DICTIONARY_MODULE, entry, describe(&module, path, entry), "", is_busy);
}
