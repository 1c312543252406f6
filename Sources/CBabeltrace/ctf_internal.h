// Declarations that the files of the CTF reader share.

#ifndef FAULTLINE_CTF_INTERNAL_H
#define FAULTLINE_CTF_INTERNAL_H

#include "ctf_reader.h"

#include <babeltrace2/babeltrace.h>

#define FIELDS_MAXIMUM 64

// The use of a member of a payload. All members of a class have the type that the class states, so it is looked up
// once.
typedef struct member {
    bt_field_class_type type;
    uint16_t offset;            // its destination, from the start of the event
    uint8_t width;              // 1, 4 or 8 bytes; 0: the lists, or an unknown member
    bool is_hash;               // the whole range of numbers is valid
    bool is_lists;
    uint32_t index;             // its index in the payload
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
    const ctf_positions *marks;  // positions of an earlier reader, which this one continues; null: none
    uint64_t *frames;
    char problem[1024];
} ctf_reader;

// Opens directories like `ctf_child_open`, but in this process, which libbabeltrace2 may end at any time. The
// positions are stored in `positions`, which must live as long as the reader.
ctf_reader *ctf_open(
    const char *const *directories, size_t count, bool names_only, ctf_positions *positions, char *problem, size_t room);

// Finds and caches the plugins; false if they are not installed.
bool ctf_find_plugins(void);

// Reads the next message; returns its kind. Everything it points to stays valid until the next one is read.
ctf_kind ctf_next(ctf_reader *reader, ctf_message *message);

void ctf_close(ctf_reader *reader);

// Releases libbabeltrace2's last message and returns the next one; null at the end, or on an error that `failure`
// reports.
const bt_message *ctf_advance(ctf_reader *reader, ctf_kind *failure);

// The name of an event within a provider of dictionary entries; null for other providers. Also sets whether the event
// is sent to one session when it starts.
const char *ctf_name_of_entry(const char *name, bool *is_statedump);

// The parsed event class; null if there is not enough memory.
const event_class *ctf_class_of(ctf_reader *reader, const bt_event_class *class);

// Fills in the message from an event.
ctf_kind ctf_read_event(ctf_reader *reader, const bt_event *event, ctf_message *message);

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
