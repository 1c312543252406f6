// The contents of a trace: every kind of event, its fields, its lists and its enumerations, each declared once with
// its description.
//
// The records in the rings, the tables that readers and writers use, the tracepoints and the keys of the timeline are
// generated from these lists at compile time. `make schema` generates the Swift types, their conversions and the event
// reference. The columns of `faultline query` and the printed fields come from the tables.
//
// A new field takes one line here, and the code that fills it. Fields of 8 bytes come before those of 4, which leaves
// padding only at the end of a record; apart from that, the order is free. The unit of a time follows from its
// meaning, so descriptions do not mention it.
//
// A new kind is listed by its title, or else its counts; by its field `rows`; and by the flags that are set. Reports sum its
// fields that have the names of counts, such as `rows`, `bytes`, `wait` and `error`. See `EventText` and `EventGroup.Counts`.

#ifndef FAULTLINE_EVENTS_H
#define FAULTLINE_EVENTS_H

#include <stdint.h>

// MARK: - Event kinds

// X(symbol, name in the trace, C structure, Swift type, title, presence, lists, description)
//
// title: the field shown in the title of a timeline's slice, FL_TITLE(structure, field), or FL_NO_TITLE.
// presence: FL_SPAN if the event takes time on its thread, FL_INSTANT if it does not.
#define FL_EVENT_KINDS(X) \
    X(FETCH, fetch, fl_fetch, Fetch, FL_TITLE(fl_fetch, entity), FL_SPAN, FL_WITH_LISTS, \
      "A fetch request that was executed.") \
    X(BATCH, batch, fl_batch, Batch, FL_TITLE(fl_batch, entity), FL_SPAN, FL_WITH_LISTS, \
      "A batch of a batched fetch, loaded when one of its rows was first accessed.") \
    X(FAULT, fault, fl_fault, Fault, FL_TITLE(fl_fault, entity), FL_SPAN, FL_WITHOUT_LISTS, \
      "A fault that fired: the attributes of an object or the members of a relationship were accessed before they were in " \
      "memory.") \
    X(CACHE_MISS, cacheMiss, fl_cache_miss, CacheMiss, FL_TITLE(fl_cache_miss, entity), FL_SPAN, FL_WITHOUT_LISTS, \
      "The trip to the store for a fault that the row cache could not serve.") \
    X(SAVE, save, fl_save, Save, FL_NO_TITLE, FL_SPAN, FL_WITH_LISTS, \
      "A save of a context.") \
    X(SQL, sql, fl_sql, Statement, FL_TITLE(fl_sql, statement), FL_SPAN, FL_WITHOUT_LISTS, \
      "A statement that ran in SQLite: a round trip if it reads rows.") \
    X(USE, use, fl_use, Use, FL_TITLE(fl_use, entity), FL_INSTANT, FL_WITH_LISTS, \
      "The program's use of one fetch's result until it released the result.") \
    X(SCOPE, scope, fl_scope, Scope, FL_TITLE(fl_scope, name), FL_SPAN, FL_WITHOUT_LISTS, \
      "The beginning or the end of a scope. Both events carry the scope's own number as their ID, and the enclosing scope " \
      "as their scope.") \
    X(MERGE, merge, fl_merge, Merge, FL_TITLE(fl_merge, saver), FL_SPAN, FL_WITH_LISTS, \
      "A merge of another context's save into a context.") \
    X(REFRESH, refresh, fl_refresh, Refresh, FL_TITLE(fl_refresh, entity), FL_SPAN, FL_WITHOUT_LISTS, \
      "Objects that were turned back into faults, so that they are read again when they are next accessed.") \
    X(WAIT, wait, fl_wait, Wait, FL_TITLE(fl_wait, resource), FL_SPAN, FL_WITHOUT_LISTS, \
      "A wait for a queue or a lock, which lasted for the event's duration.") \
    X(RELEASE, release, fl_release, Release, FL_TITLE(fl_release, entity), FL_INSTANT, FL_WITHOUT_LISTS, \
      "An object that released at least 16 KiB of values because it was turned back into a fault or deallocated; or a " \
      "fetch's result with such objects that the program released.") \
    X(CPU, cpu, fl_cpu, CPUSample, FL_NO_TITLE, FL_INSTANT, FL_WITHOUT_LISTS, \
      "A sample of a thread on a CPU: its call stack, and the CPU time that the sample represents. It has no duration. Its " \
      "parent is the operation of the store that the thread was in.") \
    X(EVICTION, eviction, fl_eviction, Eviction, FL_TITLE(fl_eviction, entity), FL_INSTANT, FL_WITHOUT_LISTS, \
      "Rows that the row cache evicted to stay within its limit. A row stays in memory while an object or a result holds it.") \
    X(CACHE_HITS, cacheHits, fl_cache_hits, CacheHits, FL_TITLE(fl_cache_hits, entity), FL_INSTANT, FL_WITHOUT_LISTS, \
      "Faults that the row cache filled, summed over one thread, scope, fetch, relationship and call stack. The event lasts " \
      "from the first of them to the last.") \
    X(ALLOCATION, allocation, fl_allocation, Allocation, FL_NO_TITLE, FL_INSTANT, FL_WITHOUT_LISTS, \
      "A sampled block of memory that was allocated or freed. The sample represents allocations of its size at the same " \
      "place. Its parent is the operation of the store that the thread was in.") \
    X(MEMORY, memory, fl_memory, Memory, FL_NO_TITLE, FL_INSTANT, FL_WITHOUT_LISTS, \
      "The memory of the process at a time, as the system counts it.") \
    X(MIGRATION, migration, fl_migration, Migration, FL_TITLE(fl_migration, stage), FL_SPAN, FL_WITHOUT_LISTS, \
      "A migration of a store to another version of its model, or a part of one.")

// How events of each kind are shown, in the order of a timeline's tracks.
// X(symbol, title of the track, style, colour, role, what a sample weighs)
//
// title: kinds with the same title share a track, whose style is that of the first.
// style: "slices", "bands" or "spans" for events that have a length, "instants" for others, and for samples "load", the
//   weight over time, or "level", the last value.
// colour: a word of the page's palette.
// role: FL_WORK if they are what a thread does with the store, FL_MARK if they mark or sum that up, FL_SAMPLE if they are
//   samples of the program.
// what a sample weighs: the name of a field, or empty.
#define FL_PRESENTATIONS(X) \
    X(SCOPE, "Scopes", "bands", "grey", FL_MARK, "") \
    X(FETCH, "Fetches", "slices", "blue", FL_WORK, "") \
    X(BATCH, "Batches", "slices", "sky", FL_WORK, "") \
    X(FAULT, "Faults", "slices", "amber", FL_WORK, "") \
    X(CACHE_HITS, "Faults", "slices", "sand", FL_WORK, "") \
    X(CACHE_MISS, "Cache Misses", "slices", "vermilion", FL_WORK, "") \
    X(SAVE, "Saves", "slices", "green", FL_WORK, "") \
    X(SQL, "SQL", "slices", "slate", FL_WORK, "") \
    X(WAIT, "Waits", "slices", "rose", FL_WORK, "") \
    X(MIGRATION, "Migrations", "slices", "violet", FL_WORK, "") \
    X(MERGE, "Merges", "slices", "mint", FL_WORK, "") \
    X(REFRESH, "Merges", "slices", "mint", FL_WORK, "") \
    X(RELEASE, "Releases", "instants", "grey", FL_MARK, "") \
    X(EVICTION, "Releases", "instants", "grey", FL_MARK, "") \
    X(USE, "Results in Use", "spans", "grey", FL_MARK, "") \
    X(CPU, "CPU", "load", "blue", FL_SAMPLE, "weight") \
    X(ALLOCATION, "Allocations", "load", "vermilion", FL_SAMPLE, "bytes") \
    X(MEMORY, "Memory", "level", "green", FL_SAMPLE, "")

// MARK: - The dictionary

// The kinds of dictionary entries, which are written once and then referred to by ID. X(symbol, name in the trace)
#define FL_DICTIONARY_KINDS(X) \
    X(ENTITY, "entity")        \
    X(SHAPE, "shape")          \
    X(STATEMENT, "statement")  \
    X(PLAN, "plan")            \
    X(SITE, "site")            \
    X(STACK, "stack")          \
    X(MODULE, "module")        \
    X(FRAME, "frame")          \
    X(NAME, "name")            \
    X(CONTEXT, "context")      \
    X(THREAD, "thread")        \
    X(DESTINATION_USE, "destinationUse") \
    X(CALIBRATION, "calibration")

// MARK: - Words

// Enumerations: numbers with a word for each value. X(symbol, Swift type, its words, description)
#define FL_ENUMERATIONS(X) \
    X(RESULT_TYPE, Fetch.ResultType, FL_RESULT_TYPES, "The kind of result that a fetch returned.") \
    X(FAULT_TYPE, Fault.FaultType, FL_FAULT_TYPES, "The kind of fault.") \
    X(FAULT_SOURCE, Fault.Source, FL_FAULT_SOURCES, "Where the data of a fault came from.") \
    X(STATEMENT_TYPE, Statement.StatementType, FL_STATEMENT_TYPES, "The effect of a statement on the store.") \
    X(SCOPE_KIND, Scope.Kind, FL_SCOPE_KINDS, "The kind of work that a scope marks.") \
    X(SCOPE_PHASE, Scope.Phase, FL_SCOPE_PHASES, "Whether an event marks the beginning or the end of a scope.") \
    X(USE_STATE, Use.State, FL_USE_STATES, "Whether the program had released a result when its use was summarized.") \
    X(MERGE_TRIGGER, Merge.Trigger, FL_MERGE_TRIGGERS, "The cause of a merge.") \
    X(WAIT_RESOURCE, Wait.Resource, FL_WAIT_RESOURCES, "The resource that a thread or a task waited for.") \
    X(MIGRATION_STAGE, Migration.Stage, FL_MIGRATION_STAGES, "The part of a migration that an event measures.") \
    X(MIGRATION_WAY, Migration.Way, FL_MIGRATION_WAYS, "How a store is migrated.")

// X(word, description)
#define FL_RESULT_TYPES(X) \
    X("objects", "Objects.") \
    X("objectIDs", "The IDs of objects.") \
    X("count", "The number of objects that match.") \
    X("dictionaries", "Dictionaries of individual properties or of aggregates.")
#define FL_FAULT_TYPES(X) \
    X("object", "An object that came from a fetch, a to-many relationship or an object ID.") \
    X("toOne", "An object that was reached through a to-one relationship.") \
    X("toMany", "The members of a to-many relationship.")
#define FL_FAULT_SOURCES(X) \
    X("rowCache", "The row cache: no trip to the store.") \
    X("store", "SQLite.") \
    X("gone", "SQLite had no such row.")
#define FL_STATEMENT_TYPES(X) \
    X("read", "It reads rows.") \
    X("write", "It writes rows.") \
    X("transaction", "It begins or ends a transaction.") \
    X("schema", "It creates tables or sets a pragma.") \
    X("other", "It is not a statement, but a call that reads or writes a blob, makes a backup or a checkpoint.")
#define FL_SCOPE_KINDS(X) \
    X("other", "Any other work that belongs together.") \
    X("screen", "The display of one screen.") \
    X("request", "The answer to one request.") \
    X("bulk", "An import, an export or another pass over a large amount of data.") \
    X("test", "A test.") \
    X("setup", "Preparation and cleanup, which rules ignore.")
#define FL_SCOPE_PHASES(X) \
    X("begin", "The beginning.") \
    X("end", "The end.")
#define FL_USE_STATES(X) \
    X("closed", "The program had released it.") \
    X("open", "The program still held it.")
#define FL_MERGE_TRIGGERS(X) \
    X("call", "A call by the program.") \
    X("automatic", "The context merges every save automatically.") \
    X("remote", "The program reported a save that none of its contexts made.")
#define FL_WAIT_RESOURCES(X) \
    X("contextQueue", "The queue of the event's context.") \
    X("coordinator", "The coordinator, which lets one context write at a time.") \
    X("connection", "One of the store's connections, all of which were reading.") \
    X("sqlite", "SQLite's lock on the file, which another connection held.")

#define FL_MIGRATION_STAGES(X) \
    X("whole", "The whole migration. The other stages are its parts.") \
    X("step", "A step from version to version, which itself has parts.") \
    X("plan", "Finding the store's version, planning, and checking the rows.") \
    X("rows", "Changing or copying the rows of a table, in SQL.") \
    X("derive", "Computing derived attributes, in SQL.") \
    X("index", "Creating indexes and triggers.") \
    X("create", "Creating the objects of an entity mapping.") \
    X("relate", "Setting the relationships of an entity mapping's objects.") \
    X("verify", "Checking the migrated store.") \
    X("handler", "A handler of a staged migration.")
#define FL_MIGRATION_WAYS(X) \
    X("inferred", "In place, in SQL, inferred from names and renaming identifiers.") \
    X("mapping", "In place, in SQL, with a mapping model.") \
    X("objects", "Object by object into a second store, with a mapping model and its policies.") \
    X("staged", "From version to version.")

// MARK: - Fields

// The meaning of a number, which determines its form in the trace and its Swift type.
typedef enum __attribute__((enum_extensibility(closed))) fl_field_meaning {
    FL_COUNT,          // a number of things
    FL_BYTES,          // a number of bytes
    FL_NANOSECONDS,    // a time
    FL_EVENT_ID,       // another event of the same process; 0: none
    FL_REFERENCE,      // a dictionary entry; 0: none. `detail` is its fl_dictionary_kind
    FL_HASH,           // a keyed hash, written as a string of 16 hexadecimal digits
    FL_ENUMERATION,    // a value of an enumeration; `detail` is an fl_enumeration
    FL_FLAG,           // 0 or 1, written as false or true
    FL_CODE,           // a number with a meaning of its own (an SQLite result code)
    // In lists only.
    FL_SHORT_HASH,     // a keyed hash, truncated to the bits that a JSON number holds exactly
    FL_CHOICE,         // an enumeration's value plus 1; 0: none. `detail` is an fl_enumeration
    FL_PREFETCH_PATH,  // the index of a key path among those that the event's shape prefetches
    FL_PROPERTY,       // the index of a property of the event's entity
} fl_field_meaning;

// X(S, C type, name, meaning, detail, description), where S is passed through from the user of the list.

// The fields of every event. `size`, `kind` and `thread` belong to the record (see fl_header).
#define FL_COMMON_FIELDS(X, S) \
    X(S, uint64_t, id, FL_EVENT_ID, 0, \
      "The event's own number. The process and the number together are unique in a trace.") \
    X(S, uint64_t, parent, FL_EVENT_ID, 0, \
      "The event during which this one happened, on the same thread. 0 if there is none.") \
    X(S, uint64_t, scope, FL_EVENT_ID, 0, \
      "The innermost open scope: the number of its scope events. 0 if there is none.") \
    X(S, uint64_t, start, FL_NANOSECONDS, 0, \
      "When the event began, since the trace began.") \
    X(S, uint64_t, duration, FL_NANOSECONDS, 0, \
      "The duration of the event.") \
    X(S, uint64_t, runDelay, FL_NANOSECONDS, 0, \
      "The time during which the thread was ready to run but waited for a CPU. Known only for events that took at least " \
      "half a millisecond and did not sleep; 0 for all others.") \
    X(S, uint32_t, context, FL_REFERENCE, FL_DICTIONARY_CONTEXT, \
      "The context that the work was done for. 0 if there is none.") \
    X(S, uint32_t, site, FL_REFERENCE, FL_DICTIONARY_SITE, \
      "The call site that the compiler recorded (`#fileID`, `#line`), if the API takes one. 0 if it is not known.") \
    X(S, uint32_t, stack, FL_REFERENCE, FL_DICTIONARY_STACK, \
      "The call stack. 0 if there is none.") \
    X(S, uint32_t, overhead, FL_NANOSECONDS, 0, \
      "The time that recording cost the program. Sampled: most events carry 0, and a measured event also carries the time " \
      "of those that were not measured, so the sum over a trace estimates the total.")

#define FL_FETCH_FIELDS(X, S) \
    X(S, uint64_t, parameters, FL_HASH, 0, \
      "A keyed hash of the request's values. It only shows which values are equal within one recording.") \
    X(S, uint64_t, bytes, FL_BYTES, 0, "Bytes of column values that were read, excluding those of prefetching.") \
    X(S, uint64_t, prefetchedBytes, FL_BYTES, 0, "Bytes of column values that prefetching read.") \
    X(S, uint64_t, wait, FL_NANOSECONDS, 0, "Time waiting for the store.") \
    X(S, uint64_t, prepare, FL_NANOSECONDS, 0, "Time preparing the statement.") \
    X(S, uint64_t, step, FL_NANOSECONDS, 0, "Time stepping through rows and copying them into the row cache.") \
    X(S, uint64_t, materialise, FL_NANOSECONDS, 0, "Time creating objects from rows.") \
    X(S, uint64_t, pending, FL_NANOSECONDS, 0, \
      "Time comparing objects with unsaved changes in memory. Older recorders count it as `materialise`.") \
    X(S, uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY, "The entity of the request.") \
    X(S, uint32_t, shape, FL_REFERENCE, FL_DICTIONARY_SHAPE, "The request without its values.") \
    X(S, uint32_t, values, FL_REFERENCE, FL_DICTIONARY_NAME, \
      "The request's values as JSON, from left to right. 0 if the trace was recorded without them, or they are too long.") \
    X(S, uint32_t, limit, FL_COUNT, 0, "The fetch limit. 0 if there is none.") \
    X(S, uint32_t, offset, FL_COUNT, 0, "The fetch offset.") \
    X(S, uint32_t, batchSize, FL_COUNT, 0, "The batch size of the request. 0 if everything is loaded at once.") \
    X(S, uint32_t, resultType, FL_ENUMERATION, FL_ENUMERATION_RESULT_TYPE, \
      "The kind of result that the fetch returned.") \
    X(S, uint32_t, rows, FL_COUNT, 0, \
      "Rows that matched. For a count request, the count; for dictionaries, their number.") \
    X(S, uint32_t, trips, FL_COUNT, 0, "Round trips to SQLite, including those of prefetching.") \
    X(S, uint32_t, prefetchedRows, FL_COUNT, 0, "Rows that prefetching read.") \
    X(S, uint32_t, cacheHits, FL_COUNT, 0, "Rows of this fetch that were already in the row cache.") \
    X(S, uint32_t, cacheMisses, FL_COUNT, 0, "Rows of this fetch that were not in the row cache.") \
    X(S, uint32_t, pendingObjects, FL_COUNT, 0, \
      "Objects with unsaved changes that were compared with the predicate in memory.") \
    X(S, uint32_t, error, FL_CODE, 0, "SQLite's result code if the fetch failed. 0 if it did not.") \
    X(S, uint32_t, operands, FL_COUNT, 0, "") \
    X(S, uint32_t, prefetches, FL_COUNT, 0, "")

#define FL_BATCH_FIELDS(X, S) \
    X(S, uint64_t, fetch, FL_EVENT_ID, 0, "The fetch that the batch belongs to.") \
    X(S, uint64_t, bytes, FL_BYTES, 0, "Bytes of column values that were read, excluding those of prefetching.") \
    X(S, uint64_t, prefetchedBytes, FL_BYTES, 0, "Bytes of column values that prefetching read.") \
    X(S, uint64_t, wait, FL_NANOSECONDS, 0, "Time waiting for the store. 0 in traces of older recorders.") \
    X(S, uint64_t, prepare, FL_NANOSECONDS, 0, "Time preparing the statement. 0 in traces of older recorders.") \
    X(S, uint64_t, step, FL_NANOSECONDS, 0, \
      "Time stepping through rows and copying them into the row cache. 0 in traces of older recorders.") \
    X(S, uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY, "The entity of the request.") \
    X(S, uint32_t, shape, FL_REFERENCE, FL_DICTIONARY_SHAPE, "The request without its values.") \
    X(S, uint32_t, firstIndex, FL_COUNT, 0, "The index of the batch's first row in the fetch's result.") \
    X(S, uint32_t, rows, FL_COUNT, 0, "Rows that were loaded.") \
    X(S, uint32_t, trips, FL_COUNT, 0, "Round trips to SQLite, including those of prefetching.") \
    X(S, uint32_t, prefetchedRows, FL_COUNT, 0, "Rows that prefetching read.") \
    X(S, uint32_t, cacheHits, FL_COUNT, 0, "Rows of this batch that were already in the row cache.") \
    X(S, uint32_t, error, FL_CODE, 0, "SQLite's result code if loading failed. 0 if it did not.") \
    X(S, uint32_t, prefetches, FL_COUNT, 0, "")

#define FL_FAULT_FIELDS(X, S) \
    X(S, uint64_t, object, FL_HASH, 0, "A keyed hash of the object's ID.") \
    X(S, uint64_t, origin, FL_EVENT_ID, 0, \
      "The fetch that produced the object, or the object from which it was reached. 0 if none is known.") \
    X(S, uint64_t, bytes, FL_BYTES, 0, "Bytes of column values that were read.") \
    X(S, uint64_t, wait, FL_NANOSECONDS, 0, \
      "Time waiting for the store. 0 if the row cache had the data, and in traces of older recorders.") \
    X(S, uint64_t, prepare, FL_NANOSECONDS, 0, \
      "Time preparing the statement. 0 if the row cache had the data, and in traces of older recorders.") \
    X(S, uint64_t, step, FL_NANOSECONDS, 0, \
      "Time stepping through rows and copying them. 0 if the row cache had the data, and in traces of older recorders.") \
    X(S, uint64_t, sinceCached, FL_NANOSECONDS, 0, \
      "Time since the object's row last entered the row cache, for a fault that went to the store. 0 if it never did, if " \
      "that was not recorded, and in traces of older recorders.") \
    X(S, uint64_t, loadedSince, FL_BYTES, 0, \
      "Bytes of rows that have entered the row cache since then.") \
    X(S, uint32_t, type, FL_ENUMERATION, FL_ENUMERATION_FAULT_TYPE, "The kind of fault.") \
    X(S, uint32_t, source, FL_ENUMERATION, FL_ENUMERATION_FAULT_SOURCE, "Where the data came from.") \
    X(S, uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY, \
      "The entity of the object. For a to-many fault, the entity of the object that has the relationship.") \
    X(S, uint32_t, relationship, FL_REFERENCE, FL_DICTIONARY_NAME, \
      "The relationship that fired or through which the object was reached. 0 if there is none.") \
    X(S, uint32_t, relationshipEntity, FL_REFERENCE, FL_DICTIONARY_ENTITY, \
      "The entity that has that relationship. 0 if there is none.") \
    X(S, uint32_t, filled, FL_COUNT, 0, \
      "Objects that this fault filled. For a to-many fault, the members of the relationship.") \
    X(S, uint32_t, seenBefore, FL_FLAG, 0, "Whether the row cache had contained this object before.") \
    X(S, uint32_t, error, FL_CODE, 0, "SQLite's result code if reading failed. 0 if it did not.") \
    X(S, uint32_t, isWatched, FL_FLAG, 0, \
      "Whether a release event follows when the object releases its values, as for values of at least 16 KiB.") \
    X(S, uint32_t, isDeleting, FL_FLAG, 0, \
      "Whether a deletion fired it to apply the delete rules of its relationships.") \
    X(S, uint32_t, isThrowing, FL_FLAG, 0, \
      "Whether the program filled the object by a call that throws if that fails, and not by reading a property.")

#define FL_CACHE_MISS_FIELDS(X, S) \
    X(S, uint64_t, fault, FL_EVENT_ID, 0, "The fault that missed.") \
    X(S, uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY, "The entity of the object.") \
    X(S, uint32_t, seenBefore, FL_FLAG, 0, "Whether the row cache had contained this object before.")

#define FL_SAVE_FIELDS(X, S) \
    X(S, uint64_t, bytes, FL_BYTES, 0, "Bytes of column values that were written.") \
    X(S, uint64_t, lockWait, FL_NANOSECONDS, 0, "Time waiting for the store and for SQLite's write lock.") \
    X(S, uint64_t, commit, FL_NANOSECONDS, 0, "Time in COMMIT.") \
    X(S, uint32_t, inserted, FL_COUNT, 0, "Objects that were inserted.") \
    X(S, uint32_t, updated, FL_COUNT, 0, "Objects that were updated.") \
    X(S, uint32_t, deleted, FL_COUNT, 0, "Objects that were deleted.") \
    X(S, uint32_t, changedColumns, FL_COUNT, 0, "Columns that updates wrote, summed over rows.") \
    X(S, uint32_t, conflicts, FL_COUNT, 0, "Rows that another writer had changed since they were read.") \
    X(S, uint32_t, trips, FL_COUNT, 0, "Statements that ran, including those of transactions.") \
    X(S, uint32_t, error, FL_CODE, 0, "SQLite's result code if the save failed. 0 if it did not.") \
    X(S, uint32_t, entities, FL_COUNT, 0, "") \
    X(S, uint32_t, isBatchRequest, FL_FLAG, 0, "Whether it is a batch request, which writes rows without objects.") \
    X(S, uint32_t, unchanged, FL_COUNT, 0, \
      "Objects whose values were all set to the values already in the store; they were not written.") \
    X(S, uint32_t, unread, FL_COUNT, 0, "")

#define FL_SQL_FIELDS(X, S) \
    X(S, uint64_t, prepare, FL_NANOSECONDS, 0, \
      "Time preparing the statement before this run, which is not part of its duration. 0 if it came from the statement " \
      "cache, and for a statement of the store, whose fetch or fault has it.") \
    X(S, uint64_t, parameters, FL_HASH, 0, \
      "A keyed hash of the statement's values, bound or written in its text. It only shows which values are equal within " \
      "one recording. 0 if it was not recorded.") \
    X(S, uint64_t, wait, FL_NANOSECONDS, 0, \
      "Time waiting for SQLite's lock, as part of its duration. 0 for a statement of the store, whose fetch, fault or save " \
      "has it.") \
    X(S, uint64_t, syncTime, FL_NANOSECONDS, 0, \
      "Time until the disk had written, as part of its duration. 0 for a statement of the store.") \
    X(S, uint64_t, open, FL_NANOSECONDS, 0, \
      "Time from the start of a statement that reads to its end. 0 if the program took less time between the rows than the " \
      "statement itself, or less than a millisecond, and for a statement of the store.") \
    X(S, uint64_t, log, FL_BYTES, 0, \
      "The length of the write-ahead log up to the last page that the statement wrote to it. 0 if it wrote none, and for a " \
      "statement of the store.") \
    X(S, uint64_t, virtualMachineSteps, FL_COUNT, 0, \
      "Operations of SQLite's virtual machine (`SQLITE_STMTSTATUS_VM_STEP`).") \
    X(S, uint64_t, columnsRead, FL_COUNT, 0, \
      "A number whose bit *n*, from 0 on, is 1 if the program read column *n* of a row, for the first 63 columns. 0 if that was " \
      "not recorded.") \
    X(S, uint32_t, statement, FL_REFERENCE, FL_DICTIONARY_STATEMENT, "The statement's text.") \
    X(S, uint32_t, plan, FL_REFERENCE, FL_DICTIONARY_PLAN, \
      "SQLite's query plan for it. 0 if none was requested.") \
    X(S, uint32_t, values, FL_REFERENCE, FL_DICTIONARY_NAME, \
      "The statement with its values, for the first runs and a few others. 0 for the rest, if the trace was recorded without " \
      "`--values`, and for a statement of the store.") \
    X(S, uint32_t, type, FL_ENUMERATION, FL_ENUMERATION_STATEMENT_TYPE, "The effect of the statement on the store.") \
    X(S, uint32_t, rows, FL_COUNT, 0, "Rows that it returned or changed.") \
    X(S, uint32_t, fullScanSteps, FL_COUNT, 0, \
      "Steps forward in a full table scan (`SQLITE_STMTSTATUS_FULLSCAN_STEP`).") \
    X(S, uint32_t, sorts, FL_COUNT, 0, "Sort operations (`SQLITE_STMTSTATUS_SORT`).") \
    X(S, uint32_t, automaticIndexes, FL_COUNT, 0, \
      "Rows inserted into automatic indexes (`SQLITE_STMTSTATUS_AUTOINDEX`).") \
    X(S, uint32_t, preparations, FL_COUNT, 0, \
      "Number of times that it was prepared for this run: 0 if it came from the statement cache, 1 if it was new, more after " \
      "schema changes.") \
    X(S, uint32_t, pageHits, FL_COUNT, 0, "Pages that were in SQLite's page cache.") \
    X(S, uint32_t, pageMisses, FL_COUNT, 0, "Pages that were not in SQLite's page cache.") \
    X(S, uint32_t, fileReads, FL_COUNT, 0, \
      "Number of times that SQLite read from a file, usually one page each. Reads of a file that is mapped into memory do not " \
      "count. 0 for a statement of the store.") \
    X(S, uint32_t, fileWrites, FL_COUNT, 0, \
      "Number of times that SQLite wrote to a file: a page, a journal or a log. 0 for a statement of the store.") \
    X(S, uint32_t, syncs, FL_COUNT, 0, \
      "Number of times that SQLite waited until the disk had written. 0 for a statement of the store.") \
    X(S, uint32_t, error, FL_CODE, 0, "SQLite's result code if it failed. 0 if it did not.") \
    X(S, uint32_t, textComparisons, FL_COUNT, 0, \
      "Strings that the store's own functions compared for it, excluding those that SQLite compared itself.") \
    X(S, uint32_t, textMatches, FL_COUNT, 0, "Of these, comparisons that found a match.") \
    X(S, uint32_t, columns, FL_COUNT, 0, \
      "Columns of a row. 0 if it returns none, and unless the trace was recorded with `--columns`, which records what a program " \
      "reads of them. 0 for a statement of the store.") \
    X(S, uint32_t, activation, FL_COUNT, 0, \
      "The number, on its thread, of the call of a Python function that had been active at the last statement with the same call " \
      "stack, or else at the thread's last statement: the innermost such call. A loop's statements have the same one. 0 if no call " \
      "was still active. If the statement ran for a task of an event loop, 33,554,432 times the task's number on the thread is " \
      "added.") \
    X(S, uint32_t, level, FL_COUNT, 0, \
      "The place of that function among the Python functions of the call stack: 1 is the innermost one. One more than their number " \
      "if none was still active, and 0 if that is not known.")

#define FL_USE_FIELDS(X, S) \
    X(S, uint64_t, fetch, FL_EVENT_ID, 0, "The fetch whose use is summarized.") \
    X(S, uint64_t, bytes, FL_BYTES, 0, "Bytes of column values in the loaded rows.") \
    X(S, uint64_t, firstUse, FL_NANOSECONDS, 0, \
      "When a row was first touched, since the trace began. 0 if none was touched.") \
    X(S, uint64_t, lastUse, FL_NANOSECONDS, 0, \
      "When a row was last touched for the first time in its window, since the trace began. 0 if none was touched.") \
    X(S, uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY, "The entity of the request.") \
    X(S, uint32_t, shape, FL_REFERENCE, FL_DICTIONARY_SHAPE, "The request without its values.") \
    X(S, uint32_t, state, FL_ENUMERATION, FL_ENUMERATION_USE_STATE, \
      "Whether the program had released the result when the event was written.") \
    X(S, uint32_t, batchSize, FL_COUNT, 0, "The batch size in force. 0 if there is none.") \
    X(S, uint32_t, rows, FL_COUNT, 0, "Rows that matched.") \
    X(S, uint32_t, loadedRows, FL_COUNT, 0, "Rows that were loaded, batch by batch or at once.") \
    X(S, uint32_t, touchedRows, FL_COUNT, 0, "Distinct rows that the program accessed in the result.") \
    X(S, uint32_t, touches, FL_COUNT, 0, "Number of accesses to rows in the result.") \
    X(S, uint32_t, batchesLoaded, FL_COUNT, 0, \
      "Number of batch loads. A batch that was released can be loaded again.") \
    X(S, uint32_t, countAsked, FL_COUNT, 0, \
      "Number of times that the program asked for the result's count or whether it is empty.") \
    X(S, uint32_t, emptinessAsked, FL_COUNT, 0, "Of these, times that it asked only whether the result is empty.") \
    X(S, uint32_t, identitiesAsked, FL_COUNT, 0, \
      "Number of times that the program asked for the IDs of the result's rows.") \
    X(S, uint32_t, modifiedRows, FL_COUNT, 0, "Rows whose object was changed or deleted.") \
    X(S, uint32_t, runs, FL_COUNT, 0, "") \
    X(S, uint32_t, windows, FL_COUNT, 0, "") \
    X(S, uint32_t, properties, FL_COUNT, 0, "") \
    X(S, uint32_t, runsLost, FL_COUNT, 0, "Runs that did not fit in the summary.")

#define FL_SCOPE_FIELDS(X, S) \
    X(S, uint32_t, name, FL_REFERENCE, FL_DICTIONARY_NAME, "The scope's name.") \
    X(S, uint32_t, kind, FL_ENUMERATION, FL_ENUMERATION_SCOPE_KIND, "The kind of work that the scope marks.") \
    X(S, uint32_t, phase, FL_ENUMERATION, FL_ENUMERATION_SCOPE_PHASE, \
      "Whether the event marks the beginning or the end of the scope.")

#define FL_MERGE_FIELDS(X, S) \
    X(S, uint32_t, trigger, FL_ENUMERATION, FL_ENUMERATION_MERGE_TRIGGER, "The cause of the merge.") \
    X(S, uint32_t, saver, FL_REFERENCE, FL_DICTIONARY_CONTEXT, "The context that saved. 0 if it is not known.") \
    X(S, uint32_t, inserted, FL_COUNT, 0, "Objects that were inserted, whether the merging context had them or not.") \
    X(S, uint32_t, updated, FL_COUNT, 0, "Objects that were updated, whether the merging context had them or not.") \
    X(S, uint32_t, deleted, FL_COUNT, 0, "Objects that were deleted, whether the merging context had them or not.") \
    X(S, uint32_t, refreshed, FL_COUNT, 0, \
      "Objects of the merging context that now have other values or are gone.") \
    X(S, uint32_t, conflicts, FL_COUNT, 0, "Of these, objects with unsaved changes, which were kept.") \
    X(S, uint32_t, entities, FL_COUNT, 0, "")

#define FL_REFRESH_FIELDS(X, S) \
    X(S, uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY, "The entity of the objects. 0 if there are several.") \
    X(S, uint32_t, objects, FL_COUNT, 0, "Objects that were refreshed.") \
    X(S, uint32_t, changed, FL_COUNT, 0, "Of these, objects that had unsaved changes.") \
    X(S, uint32_t, keepsChanges, FL_FLAG, 0, "Whether unsaved changes were kept rather than discarded.")

#define FL_WAIT_FIELDS(X, S) \
    X(S, uint32_t, resource, FL_ENUMERATION, FL_ENUMERATION_WAIT_RESOURCE, \
      "The resource that a thread or a task waited for.") \
    X(S, uint32_t, isBlocking, FL_FLAG, 0, \
      "Whether a thread was blocked. Otherwise a task waited, and the thread that it resumed on did other work meanwhile.") \
    X(S, uint32_t, owner, FL_REFERENCE, FL_DICTIONARY_CONTEXT, \
      "The context that held the lock when the wait began. 0 if it is not known.") \
    X(S, uint32_t, ownerSite, FL_REFERENCE, FL_DICTIONARY_SITE, \
      "The call site of that context's work. 0 if it is not known.") \
    X(S, uint32_t, ownerThread, FL_CODE, 0, \
      "The kernel's ID of the thread that held the lock. 0 if it is not known.") \
    X(S, uint32_t, ownerProcess, FL_CODE, 0, \
      "The kernel's ID of the process that held the lock. 0 if it was this one, or is not known.") \
    X(S, uint32_t, tries, FL_COUNT, 0, "Number of attempts to take SQLite's lock again.") \
    X(S, uint32_t, error, FL_CODE, 0, "SQLite's result code if the lock was not taken. 0 if it was.")

#define FL_RELEASE_FIELDS(X, S) \
    X(S, uint64_t, fetch, FL_EVENT_ID, 0, "The fetch whose result was released. 0 if it was an object.") \
    X(S, uint64_t, fault, FL_EVENT_ID, 0, "The fault that filled the object. 0 if it was a result.") \
    X(S, uint64_t, object, FL_HASH, 0, "A keyed hash of the object's ID, the same as in the fault.") \
    X(S, uint64_t, bytes, FL_BYTES, 0, "Bytes of the released values.") \
    X(S, uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY, "The entity of the object or of the request.")

#define FL_CPU_FIELDS(X, S) \
    X(S, uint64_t, weight, FL_NANOSECONDS, 0, "CPU time of the thread that the sample represents.") \
    X(S, uint32_t, leaf, FL_REFERENCE, FL_DICTIONARY_STACK, \
      "The instruction that the thread executed, as a stack of one frame. Its callers are in `stack`. 0 if the interpreter " \
      "of the stack's innermost function executed it, or if it is not known.")

#define FL_ALLOCATION_FIELDS(X, S) \
    X(S, uint64_t, allocation, FL_EVENT_ID, 0, "If the block was freed, the event of its allocation; otherwise 0.") \
    X(S, uint64_t, size, FL_BYTES, 0, "Bytes that the program asked for. 0 if the block was freed.") \
    X(S, uint64_t, bytes, FL_BYTES, 0, "Bytes that the sample represents. 0 if the block was freed.") \
    X(S, uint64_t, count, FL_COUNT, 0, "Allocations that the sample represents. 0 if the block was freed.")

#define FL_MEMORY_FIELDS(X, S) \
    X(S, uint64_t, resident, FL_BYTES, 0, "Memory of the process that is in RAM (RSS).") \
    X(S, uint64_t, proportional, FL_BYTES, 0, \
      "The same, with pages that processes share divided among them (PSS). 0 if it is not known.")

#define FL_MIGRATION_FIELDS(X, S) \
    X(S, uint64_t, rows, FL_COUNT, 0, \
      "Rows that statements processed, or objects that were created or changed.") \
    X(S, uint64_t, bytes, FL_BYTES, 0, "The size of the store's file before the migration. 0 for a part of one.") \
    X(S, uint64_t, timeInSQL, FL_NANOSECONDS, 0, \
      "The estimated time of the same migration in SQL, if a mapping model created objects although it could have been inferred. " \
      "0 for all others.") \
    X(S, uint32_t, stage, FL_ENUMERATION, FL_ENUMERATION_MIGRATION_STAGE, \
      "The part of a migration that the event measures.") \
    X(S, uint32_t, way, FL_ENUMERATION, FL_ENUMERATION_MIGRATION_WAY, "How the store is migrated.") \
    X(S, uint32_t, name, FL_REFERENCE, FL_DICTIONARY_NAME, \
      "For a whole migration, the store's file. For a part, the newer entity, the join table, the entity mapping or the stage. " \
      "0 if it is for none or several.") \
    X(S, uint32_t, error, FL_CODE, 0, "SQLite's result code if the migration failed. 0 if it did not.")

#define FL_EVICTION_FIELDS(X, S) \
    X(S, uint64_t, bytes, FL_BYTES, 0, "Bytes of memory that the rows occupied.") \
    X(S, uint64_t, limit, FL_BYTES, 0, "The row cache's limit.") \
    X(S, uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY, \
      "The entity at the root of the rows' inheritance hierarchy.") \
    X(S, uint32_t, rows, FL_COUNT, 0, "Rows that were evicted.") \
    X(S, uint32_t, heldRows, FL_COUNT, 0, "Of these, rows that an object or a result still held.")

#define FL_CACHE_HITS_FIELDS(X, S) \
    X(S, uint64_t, origin, FL_EVENT_ID, 0, \
      "The fetch that produced the objects, or the object from which they were reached. 0 if none is known.") \
    X(S, uint64_t, hits, FL_COUNT, 0, "Faults that the row cache filled.") \
    X(S, uint64_t, filled, FL_COUNT, 0, \
      "Objects that they filled. For to-many faults, the members of the relationships.") \
    X(S, uint64_t, bytes, FL_BYTES, 0, "Bytes of memory that the rows occupy, or that the members' IDs would.") \
    X(S, uint64_t, time, FL_NANOSECONDS, 0, \
      "Time that the faults took. Measured for each to-many fault. For objects, estimated from one fault in 64.") \
    X(S, uint32_t, type, FL_ENUMERATION, FL_ENUMERATION_FAULT_TYPE, "The kind of fault.") \
    X(S, uint32_t, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY, \
      "The entity of the objects. For to-many faults, the entity of the objects that have the relationship.") \
    X(S, uint32_t, relationship, FL_REFERENCE, FL_DICTIONARY_NAME, \
      "The relationship that fired or through which the objects were reached. 0 if there is none.") \
    X(S, uint32_t, relationshipEntity, FL_REFERENCE, FL_DICTIONARY_ENTITY, \
      "The entity that has that relationship. 0 if there is none.")

// MARK: - Lists that follow an event

// A list is a sequence of entries of 64-bit words after the event's fields. The field with the list's name is its
// length.
// X(S, name, the symbol of its entries, description)
#define FL_FETCH_LISTS(X, S) \
    X(S, operands, OPERAND, \
      "A keyed hash of the values of each term of the shape, in order, and one more for all terms beyond the limit.") \
    X(S, prefetches, PREFETCH, \
      "The cost of prefetching each key path that had to be read. Empty in traces of older recorders.")
#define FL_BATCH_LISTS(X, S) \
    X(S, prefetches, PREFETCH, \
      "The cost of prefetching each key path that had to be read. Empty in traces of older recorders.")
#define FL_FAULT_LISTS(X, S)
#define FL_CACHE_MISS_LISTS(X, S)
#define FL_SAVE_LISTS(X, S) \
    X(S, entities, CHANGE, "The inserted, updated and deleted objects, by entity.") \
    X(S, unread, UNREAD, \
      "The written objects that the program had fetched but not read. Empty if a class or the context does work for each " \
      "object, and in traces of older recorders.")
#define FL_SQL_LISTS(X, S)
#define FL_USE_LISTS(X, S) \
    X(S, runs, RUN, "Consecutive rows that were touched one after the other.") \
    X(S, windows, WINDOW, "The number of rows that were touched within one window.") \
    X(S, properties, PROPERTY, "The use of each property: where it was loaded, and where it was read.")
#define FL_SCOPE_LISTS(X, S)
#define FL_MERGE_LISTS(X, S) \
    X(S, entities, CHANGE, "The saved objects, by entity.")
#define FL_REFRESH_LISTS(X, S)
#define FL_WAIT_LISTS(X, S)
#define FL_RELEASE_LISTS(X, S)
#define FL_CPU_LISTS(X, S)
#define FL_ALLOCATION_LISTS(X, S)
#define FL_MEMORY_LISTS(X, S)
#define FL_MIGRATION_LISTS(X, S)
#define FL_EVICTION_LISTS(X, S)
#define FL_CACHE_HITS_LISTS(X, S)

// The entries of lists. X(symbol, Swift type, its words, description)
#define FL_ENTRIES(X) \
    X(OPERAND, UInt64, FL_OPERAND_WORDS, "A keyed hash of the values of one term.") \
    X(PREFETCH, Prefetch, FL_PREFETCH_WORDS, "The cost of prefetching one key path with a fetch or a batch.") \
    X(CHANGE, Save.Change, FL_CHANGE_WORDS, "The saved objects of one entity.") \
    X(UNREAD, Save.Unread, FL_UNREAD_WORDS, \
      "Objects that one fetch had returned and that were deleted or set to the same values although the program had read " \
      "none of their values.") \
    X(RUN, Use.Run, FL_RUN_WORDS, "Consecutive rows that were touched one after the other.") \
    X(WINDOW, Use.Window, FL_WINDOW_WORDS, \
      "A number of rows that were touched within one window, and the number of such windows. A window is one instance of a " \
      "scope or, outside any scope, the time between two pauses.") \
    X(PROPERTY, Use.Property, FL_PROPERTY_WORDS, "The use of one property: where it was loaded, and where it was read.")

// X(S, name, meaning, detail, description)
#define FL_OPERAND_WORDS(X, S) \
    X(S, hash, FL_SHORT_HASH, 0, "The hash.")
#define FL_PREFETCH_WORDS(X, S) \
    X(S, path, FL_PREFETCH_PATH, 0, "The index of the key path among those that the shape prefetches.") \
    X(S, trips, FL_COUNT, 0, "Round trips to SQLite.") \
    X(S, rows, FL_COUNT, 0, "Rows that were read, excluding those in the row cache.") \
    X(S, bytes, FL_BYTES, 0, "Bytes of their column values.") \
    X(S, duration, FL_NANOSECONDS, 0, "The duration.")
#define FL_CHANGE_WORDS(X, S) \
    X(S, entity, FL_REFERENCE, FL_DICTIONARY_ENTITY, "The entity.") \
    X(S, inserted, FL_COUNT, 0, "Objects that were inserted.") \
    X(S, updated, FL_COUNT, 0, "Objects that were updated.") \
    X(S, deleted, FL_COUNT, 0, "Objects that were deleted.")
#define FL_UNREAD_WORDS(X, S) \
    X(S, fetch, FL_EVENT_ID, 0, "The fetch.") \
    X(S, deleted, FL_COUNT, 0, "Objects that were deleted.") \
    X(S, updated, FL_COUNT, 0, "Objects whose properties were all set to the same values.") \
    X(S, properties, FL_CODE, 0, "The indexes of the properties that were set, one bit each.") \
    X(S, values, FL_SHORT_HASH, 0, \
      "A keyed hash of the new values. It only shows which values are equal within one recording.")
#define FL_RUN_WORDS(X, S) \
    X(S, first, FL_COUNT, 0, "The index of the first row.") \
    X(S, rows, FL_COUNT, 0, "The number of rows.")
#define FL_WINDOW_WORDS(X, S) \
    X(S, scopeKind, FL_CHOICE, FL_ENUMERATION_SCOPE_KIND, \
      "The kind of the scope. None for a window between two pauses.") \
    X(S, rows, FL_COUNT, 0, "Rows that were touched.") \
    X(S, times, FL_COUNT, 0, "The number of such windows.")
#define FL_PROPERTY_WORDS(X, S) \
    X(S, index, FL_PROPERTY, 0, "The index of the property among those of its entity.") \
    X(S, rowsRead, FL_COUNT, 0, "Rows in which it was read.") \
    X(S, rowsLoaded, FL_COUNT, 0, "Rows in which it was loaded.") \
    X(S, bytes, FL_BYTES, 0, "Bytes of its values that were loaded.") \
    X(S, largeRows, FL_COUNT, 0, "Rows in which its value is at least 16 KiB.")

// MARK: - Limits

// The maximum number of a shape's terms with their own hash. In a longer predicate, one more hash covers all the
// others.
#define FL_FETCH_OPERANDS 32

// The maximum number of fetches for which a save lists objects written unread, and of properties of an entity that it
// can name.
#define FL_UNREAD_FETCHES 32
#define FL_UNREAD_PROPERTIES 52

// The maximum number of key paths whose prefetching a fetch or batch lists.
#define FL_PREFETCHES 32

// A value of this many bytes counts as large: SQLite keeps a row of more than a page in overflow pages.
#define FL_LARGE_VALUE 16384

#endif
