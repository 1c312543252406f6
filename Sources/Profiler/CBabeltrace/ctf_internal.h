// Declarations that the files of the CTF reader share.

#ifndef FAULTLINE_CTF_INTERNAL_H
#define FAULTLINE_CTF_INTERNAL_H

#include "ctf_reader.h"

#include <babeltrace2/babeltrace.h>

#define FIELDS_MAXIMUM 64

// The use of a member of a payload. All members of a class have the type that the class states, so it is looked up
// once.
typedef struct member {
    uint64_t limit;             // its largest valid number
    uint32_t index;             // its index in the payload
    uint16_t offset;            // its destination, from the start of the event
    uint8_t width;              // 1, 4 or 8 bytes; 0: the lists, or an unknown member
    bool is_lists;
    bool is_unsigned;           // an unsigned number, as LTTng writes all but a few
    bt_field_class_type type;
} member;

// A parsed event class. It is looked up by address, because each trace has its own classes.
typedef struct event_class {
    const bt_event_class *class;
    uint32_t kind;           // fl_event_kind; FL_EVENT_NONE: not an event of the schema
    ctf_kind other;          // the kind of message if it is not an event
    bool is_statedump;       // sent to one session when it starts
    uint32_t member_count;
    member members[FIELDS_MAXIMUM];
} event_class;

// The position up to which a stream was delivered.
typedef struct position {
    const bt_stream *stream;   // null: of another reader
    uint8_t trace[16];         // the trace's UUID; zeros if it has none
    uint64_t class, number;    // the stream's, in its trace
    uint64_t packet;           // the number of its packet, as the packet says
    uint64_t message;          // the number of messages of that packet that were delivered
} position;

// More streams than any trace has, which is one for each channel and CPU.
#define POSITIONS_MAXIMUM 65536

// The positions up to which the streams of a trace were delivered.
typedef struct ctf_positions {
    size_t count;
    position of[POSITIONS_MAXIMUM];
} ctf_positions;

// One stream's messages, of which libbabeltrace2 delivers a few at a time.
typedef struct ctf_feed {
    bt_message_iterator *iterator;
    bt_message_array_const messages;
    uint64_t count, index;
    int64_t time;      // of the message at `index`, or of the last event before it, in nanoseconds
    bool has_clock;
} ctf_feed;

// The streams' messages, merged by time. libbabeltrace2's muxer also merges by the times of packets, and compares the
// streams' clocks for each message, which takes longer.
typedef struct ctf_merge {
    ctf_feed *feeds;
    size_t feed_count;
    ctf_feed **heap;   // the feeds that have not ended; the first has the next message
    size_t heap_count;
    bool is_delivered; // whether the first feed's message was returned
} ctf_merge;

typedef struct ctf_reader {
    bt_graph *graph;
    ctf_merge merge;
    bool has_ended;
    bool names_only;
    event_class *classes;
    size_t class_count;
    event_class *last;       // events come in runs of one class
    ctf_positions *positions;
    size_t last_position;    // and in runs of one stream
    const ctf_positions *marks;  // positions of an earlier reader, which this one continues; null: none
    uint64_t *frames;
    char problem[1024];
} ctf_reader;

// Opens directories like `ctf_child_open`, but in this process, which libbabeltrace2 may end at any time. The
// positions are stored in `positions`, which must live as long as the reader.
ctf_reader *ctf_open(
    const char *const *directories, size_t count, bool names_only, ctf_positions *positions, char *problem, size_t room);

// Adds a sink with an input for each of `feed_count` streams to the graph; null if that fails.
const bt_component_sink *ctf_merge_add(ctf_merge *merge, bt_graph *graph, size_t feed_count);

// Releases the last message and returns the next one; null if its stream must deliver more first (bt_graph_run_once),
// or all have ended.
const bt_message *ctf_merge_next(ctf_merge *merge);

void ctf_merge_close(ctf_merge *merge);

// Finds and caches the plugin that reads CTF; false if it is not installed.
bool ctf_find_plugins(void);

// Reads the next message; returns its kind. An event is stored in `event`, anything else in `message`; everything that
// it points to stays valid until the next one is read.
ctf_kind ctf_next(ctf_reader *reader, ctf_message *message, fl_event *event);

void ctf_close(ctf_reader *reader);

// Releases libbabeltrace2's last message and returns the next one; null at the end, or on an error that `failure`
// reports.
const bt_message *ctf_advance(ctf_reader *reader, ctf_kind *failure);

// The name of an event within a provider of dictionary entries; null for other providers. Also sets whether the event
// is sent to one session when it starts.
const char *ctf_name_of_entry(const char *name, bool *is_statedump);

// The parsed event class; null if there is not enough memory.
const event_class *ctf_class_of(ctf_reader *reader, const bt_event_class *class);

// Fills in the event or the message from an event of the trace.
ctf_kind ctf_read_event(ctf_reader *reader, const bt_event *given, ctf_message *message, fl_event *event);

// Records the beginning of a packet.
void ctf_begin_packet(ctf_reader *reader, const bt_packet *packet);

// Counts a message of a stream. Returns whether the reader that this one continues has already delivered it.
bool ctf_was_handed_out(ctf_reader *reader, const bt_stream *stream);

// Reads an unsigned number; false if the field holds another value.
bool ctf_read_number(const bt_field *field, uint64_t *number);

// The same for a field of known type.
static inline bool ctf_read_number_of_type(const bt_field *field, bt_field_class_type type, uint64_t *number) {
    switch (type) {
    case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
    case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION: *number = bt_field_integer_unsigned_get_value(field); return true;
    case BT_FIELD_CLASS_TYPE_SIGNED_INTEGER:
    case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION: {
        int64_t value = bt_field_integer_signed_get_value(field);
        *number = (uint64_t)value;
        return value >= 0;
    }
    default: return false;
    }
}

#endif
