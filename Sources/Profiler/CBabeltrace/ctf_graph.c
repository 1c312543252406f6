#define _GNU_SOURCE
#include "ctf_internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// MARK: - Errors

// Takes the innermost cause of libbabeltrace2's current error, in one line; false if there is no error.
//
// A damaged trace can leave an error although a call succeeded. The next call would then end the program, so this is
// called after each.
static bool take_problem(char *out, size_t room) {
    const bt_error *error = bt_current_thread_take_error();
    if (error == NULL) { return false; }
    snprintf(out, room, "it cannot be read");
    if (bt_error_get_cause_count(error) > 0) {
        const bt_error_cause *cause = bt_error_borrow_cause_by_index(error, 0);
        snprintf(out, room, "%s", bt_error_cause_get_message(cause));
        for (char *place = out; *place != 0; place++) {
            if (*place == '\n') { *place = ' '; }
        }
    }
    bt_error_release(error);
    return true;
}

// MARK: - The graph

// The plugin in a folder beside the library. A copy of libbabeltrace2 in a package looks where its distribution has them.
static const bt_plugin *plugin_beside_library(void) {
    static const bt_plugin_set *plugins;
    Dl_info library;
    void *function = dlsym(RTLD_DEFAULT, "bt_plugin_find");
    char *path = NULL;
    if (function == NULL || dladdr(function, &library) == 0 || library.dli_fname == NULL) { return NULL; }
    const char *end = strrchr(library.dli_fname, '/');
    int length = end == NULL ? 0 : (int)(end - library.dli_fname + 1);
    if (asprintf(&path, "%.*sbabeltrace2/plugins", length, library.dli_fname) < 0) { return NULL; }
    bt_plugin_find_all_from_dir_status status = bt_plugin_find_all_from_dir(path, BT_FALSE, BT_FALSE, &plugins);
    free(path);
    if (status != BT_PLUGIN_FIND_ALL_FROM_DIR_STATUS_OK) { return NULL; }
    for (uint64_t index = 0; index < bt_plugin_set_get_plugin_count(plugins); index++) {
        const bt_plugin *plugin = bt_plugin_set_borrow_plugin_by_index_const(plugins, index);
        if (strcmp(bt_plugin_get_name(plugin), "ctf") == 0) { return plugin; }
    }
    return NULL;
}

static const bt_component_class_source *source_class(void) {
    const bt_plugin *plugin = NULL;
    if (bt_plugin_find("ctf", BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugin) != BT_PLUGIN_FIND_STATUS_OK) {
        plugin = plugin_beside_library();
    }
    return plugin == NULL ? NULL : bt_plugin_borrow_source_component_class_by_name_const(plugin, "fs");
}

static const bt_component_class_source *source_kind;

bool ctf_find_plugins(void) {
    if (source_kind == NULL) { source_kind = source_class(); }
    return source_kind != NULL;
}

static const bt_component_source *add_source(bt_graph *graph, size_t number, const char *directory) {
    bt_value *parameters = bt_value_map_create(), *inputs = NULL;
    const bt_component_source *source = NULL;
    char name[32];
    snprintf(name, sizeof name, "source%zu", number);
    bool added = parameters != NULL
        && bt_value_map_insert_empty_array_entry(parameters, "inputs", &inputs) == BT_VALUE_MAP_INSERT_ENTRY_STATUS_OK
        && bt_value_array_append_string_element(inputs, directory) == BT_VALUE_ARRAY_APPEND_ELEMENT_STATUS_OK
        && bt_graph_add_source_component(graph, source_kind, name, parameters, BT_LOGGING_LEVEL_NONE, &source)
            == BT_GRAPH_ADD_COMPONENT_STATUS_OK;
    if (parameters != NULL) { bt_value_put_ref(parameters); }
    return added ? source : NULL;
}

// Connects the streams of each directory with an input of the merge.
static bool connect(bt_graph *graph, const bt_component_source **sources, size_t count, ctf_merge *merge) {
    uint64_t streams = 0, input = 0;
    for (size_t index = 0; index < count; index++) {
        streams += bt_component_source_get_output_port_count(sources[index]);
    }
    const bt_component_sink *sink = ctf_merge_add(merge, graph, streams);
    if (sink == NULL) { return false; }
    for (size_t index = 0; index < count; index++) {
        uint64_t ports = bt_component_source_get_output_port_count(sources[index]);
        for (uint64_t port = 0; port < ports; port++, input++) {
            if (bt_graph_connect_ports(
                    graph, bt_component_source_borrow_output_port_by_index_const(sources[index], port),
                    bt_component_sink_borrow_input_port_by_index_const(sink, input), NULL)
                != BT_GRAPH_CONNECT_PORTS_STATUS_OK) {
                return false;
            }
        }
    }
    return true;
}

static bool build_graph(ctf_reader *reader, const char *const *directories, size_t count) {
    const bt_component_source **sources = calloc(count + 1, sizeof *sources);
    reader->graph = bt_graph_create(0);
    bool ready = reader->graph != NULL && sources != NULL;
    for (size_t index = 0; ready && index < count; index++) {
        sources[index] = add_source(reader->graph, index, directories[index]);
        ready = sources[index] != NULL;
    }
    ready = ready && connect(reader->graph, sources, count, &reader->merge);
    free(sources);
    return ready;
}

ctf_reader *ctf_open(
    const char *const *directories, size_t count, bool names_only, ctf_positions *positions, char *problem, size_t room
) {
    if (!ctf_find_plugins()) {
        snprintf(problem, room, "the plugins of babeltrace2 are not installed");
        return NULL;
    }
    ctf_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) {
        snprintf(problem, room, "there is not enough memory");
        return NULL;
    }
    reader->names_only = names_only;
    reader->positions = positions;
    bool ready = build_graph(reader, directories, count);
    snprintf(problem, room, "it cannot be read");
    if (take_problem(problem, room) || !ready) {
        ctf_close(reader);
        return NULL;
    }
    return reader;
}

void ctf_close(ctf_reader *reader) {
    ctf_merge_close(&reader->merge);
    if (reader->graph != NULL) { bt_graph_put_ref(reader->graph); }
    free(reader->classes);
    free(reader->frames);
    free(reader);
}

// MARK: - Reading

const bt_message *ctf_advance(ctf_reader *reader, ctf_kind *failure) {
    for (;;) {
        const bt_message *message = ctf_merge_next(&reader->merge);
        if (message != NULL) { return message; }
        *failure = CTF_END;
        if (reader->has_ended) { return NULL; }
        bt_graph_run_once_status status = bt_graph_run_once(reader->graph);
        if (status == BT_GRAPH_RUN_ONCE_STATUS_END) { reader->has_ended = true; }
        snprintf(reader->problem, sizeof reader->problem, "it cannot be read");
        if (take_problem(reader->problem, sizeof reader->problem) || status < 0) {
            reader->has_ended = true;
            *failure = CTF_FAILED;
            return NULL;
        }
    }
}
