// What the files of the CTF reader share.

#ifndef FAULTLINE_CTF_INTERNAL_H
#define FAULTLINE_CTF_INTERNAL_H

#include "ctf_reader.h"

#include <babeltrace2/babeltrace.h>

#define FIELDS_MAXIMUM 64

// What a member of a payload is for. All members of a class are of the type that the class says, so that it is asked once.
typedef struct member {
    bt_field_class_type type;
    uint16_t offset;            // where it belongs, from the start of the event
    uint8_t width;              // 1, 4 or 8 bytes; 0: the lists, or a member that is not known
    bool is_hash;               // any number will do
    bool is_lists;
    uint32_t index;             // its place in the payload
} member;

// What is known of an event class. Looked up by its address: each trace has classes of its own.
typedef struct event_class {
    const bt_event_class *class;
    uint32_t kind;           // fl_event_kind; FL_EVENT_NONE: no event of the schema
    ctf_kind other;          // then what it is
    bool is_statedump;       // it is told to one session, when that starts
    uint32_t member_count;
    member members[FIELDS_MAXIMUM];
} event_class;

// How far a stream was handed out.
typedef struct position {
    const bt_stream *stream;   // null: of another reader
    uint8_t trace[16];         // the trace's UUID; zeros if it has none
    uint64_t class, number;    // the stream's, in its trace
    uint64_t packet;           // the number of its packet, as the packet says
    uint64_t message;          // how many messages of that packet were handed out
} position;

// More streams than any trace has: one for each channel and CPU.
#define POSITIONS_MAXIMUM 65536

// How far the streams of a trace were handed out.
typedef struct ctf_positions {
    size_t count;
    position of[POSITIONS_MAXIMUM];
} ctf_positions;

typedef struct ctf_reader {
    bt_graph *graph;
    bt_message_array_const messages;
    uint64_t message_count, message_index;
    bool has_ended;
    bool names_only;
    bt_message_iterator *iterator;
    event_class *classes;
    size_t class_count;
    event_class *last;       // events come in runs of one class
    ctf_positions *positions;
    size_t last_position;    // and in runs of one stream
    const ctf_positions *marks;  // how far another reader handed them out, which this one goes on; null: it is the first
    uint64_t *frames;
    char problem[1024];
} ctf_reader;

// Opens directories, as `ctf_child_open` does, in this process, which libbabeltrace2 may end at any time. The positions
// are kept in `positions`, and live as long as the reader.
ctf_reader *ctf_open(
    const char *const *directories, size_t count, bool names_only, ctf_positions *positions, char *problem, size_t room);

// Looks the plugins up; false if they are not installed. What it finds is kept.
bool ctf_find_plugins(void);

// The next message; returns its kind. What it points to lives until the next one is asked for.
ctf_kind ctf_next(ctf_reader *reader, ctf_message *message);

void ctf_close(ctf_reader *reader);

// The next message of libbabeltrace2, and the one before given back; null at the end or, with `failure` saying so, where
// it cannot go on.
const bt_message *ctf_advance(ctf_reader *reader, ctf_kind *failure);

// What an event is called within a provider of dictionary entries; null if it is of another. Says also whether it is told
// to one session, when that starts.
const char *ctf_name_of_entry(const char *name, bool *is_statedump);

// What is known of an event class; null if there is no memory.
const event_class *ctf_class_of(ctf_reader *reader, const bt_event_class *class);

// Fills in the message from an event.
ctf_kind ctf_read_event(ctf_reader *reader, const bt_event *event, ctf_message *message);

// Notes that a packet begins.
void ctf_begin_packet(ctf_reader *reader, const bt_packet *packet);

// Notes a message of a stream. Whether it was handed out before, by the reader that this one goes on.
bool ctf_was_handed_out(ctf_reader *reader, const bt_stream *stream);

// An unsigned number; false if the field holds another value.
bool ctf_read_number(const bt_field *field, uint64_t *number);

// The same where the field's type is known.
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
