// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// A statement that ran in SQLite: a round trip if it reads rows.
    public struct Statement: Sendable, Hashable {
        /// The effect of a statement on the store.
        public enum StatementType: UInt32, Sendable, Hashable, CaseIterable {
            /// It reads rows.
            case read
            /// It writes rows.
            case write
            /// It begins or ends a transaction.
            case transaction
            /// It creates tables or sets a pragma.
            case schema
            /// It is not a statement, but a call that reads or writes a blob, makes a backup or a checkpoint.
            case other
        }

        /// Time preparing the statement before this run, which is not part of its duration, in nanoseconds.
        ///
        /// 0 if it came from the statement cache, and for a statement of the store, whose fetch or fault has it.
        public var prepare: UInt64 = 0
        /// A keyed hash of the statement's values, bound or written in its text.
        ///
        /// It only shows which values are equal within one recording. 0 if it was not recorded.
        public var parameters: UInt64 = 0
        /// Time waiting for SQLite's lock, as part of its duration, in nanoseconds.
        ///
        /// 0 for a statement of the store, whose fetch, fault or save has it.
        public var wait: UInt64 = 0
        /// Time until the disk had written, as part of its duration, in nanoseconds.
        ///
        /// 0 for a statement of the store.
        public var syncTime: UInt64 = 0
        /// Time from the start of a statement that reads to its end, in nanoseconds.
        ///
        /// 0 if the program took less time between the rows than the statement itself, or less than a millisecond, and
        /// for a statement of the store.
        public var open: UInt64 = 0
        /// The length of the write-ahead log up to the last page that the statement wrote to it.
        ///
        /// 0 if it wrote none, and for a statement of the store.
        public var log: UInt64 = 0
        /// Operations of SQLite's virtual machine (`SQLITE_STMTSTATUS_VM_STEP`).
        public var virtualMachineSteps: UInt64 = 0
        /// A number whose bit *n*, from 0 on, is 1 if the program read column *n* of a row, for the first 63 columns.
        ///
        /// 0 if that was not recorded.
        public var columnsRead: UInt64 = 0
        /// The statement's text.
        public var statement: DictionaryID = 0
        /// SQLite's query plan for it.
        ///
        /// 0 if none was requested.
        public var plan: DictionaryID = 0
        /// The statement with its values, for the first runs and a few others.
        ///
        /// 0 for the rest, if the trace was recorded without `--values`, and for a statement of the store.
        public var values: DictionaryID = 0
        /// The effect of the statement on the store.
        public var type: StatementType = .read
        /// Rows that it returned or changed.
        public var rows: UInt32 = 0
        /// Steps forward in a full table scan (`SQLITE_STMTSTATUS_FULLSCAN_STEP`).
        public var fullScanSteps: UInt32 = 0
        /// Sort operations (`SQLITE_STMTSTATUS_SORT`).
        public var sorts: UInt32 = 0
        /// Rows inserted into automatic indexes (`SQLITE_STMTSTATUS_AUTOINDEX`).
        public var automaticIndexes: UInt32 = 0
        /// Number of times that it was prepared for this run: 0 if it came from the statement cache, 1 if it was new,
        /// more after schema changes.
        public var preparations: UInt32 = 0
        /// Pages that were in SQLite's page cache.
        public var pageHits: UInt32 = 0
        /// Pages that were not in SQLite's page cache.
        public var pageMisses: UInt32 = 0
        /// Number of times that SQLite read from a file, usually one page each.
        ///
        /// Reads of a file that is mapped into memory do not count. 0 for a statement of the store.
        public var fileReads: UInt32 = 0
        /// Number of times that SQLite wrote to a file: a page, a journal or a log.
        ///
        /// 0 for a statement of the store.
        public var fileWrites: UInt32 = 0
        /// Number of times that SQLite waited until the disk had written.
        ///
        /// 0 for a statement of the store.
        public var syncs: UInt32 = 0
        /// SQLite's result code if it failed.
        ///
        /// 0 if it did not.
        public var error: UInt32 = 0
        /// Strings that the store's own functions compared for it, excluding those that SQLite compared itself.
        public var textComparisons: UInt32 = 0
        /// Of these, comparisons that found a match.
        public var textMatches: UInt32 = 0
        /// Columns of a row.
        ///
        /// 0 if it returns none, and unless the trace was recorded with `--columns`, which records what a program reads
        /// of them. 0 for a statement of the store.
        public var columns: UInt32 = 0
        /// The number, on its thread, of the call of a Python function that had been active at the last statement with
        /// the same call stack, or else at the thread's last statement: the innermost such call.
        ///
        /// A loop's statements have the same one. 0 if no call was still active. If the statement ran for a task of an
        /// event loop, 33,554,432 times the task's number on the thread is added.
        public var activation: UInt32 = 0
        /// The place of that function among the Python functions of the call stack: 1 is the innermost one.
        ///
        /// One more than their number if none was still active, and 0 if that is not known.
        public var level: UInt32 = 0

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Statement: EventRecord {
    package static var kind: EventKind { .sql }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.sql
        prepare = fields.prepare
        parameters = fields.parameters
        wait = fields.wait
        syncTime = fields.syncTime
        open = fields.open
        log = fields.log
        virtualMachineSteps = fields.virtualMachineSteps
        columnsRead = fields.columnsRead
        statement = fields.statement
        plan = fields.plan
        values = fields.values
        type = TraceEvent.Statement.StatementType(rawValue: fields.type) ?? .read
        rows = fields.rows
        fullScanSteps = fields.fullScanSteps
        sorts = fields.sorts
        automaticIndexes = fields.automaticIndexes
        preparations = fields.preparations
        pageHits = fields.pageHits
        pageMisses = fields.pageMisses
        fileReads = fields.fileReads
        fileWrites = fields.fileWrites
        syncs = fields.syncs
        error = fields.error
        textComparisons = fields.textComparisons
        textMatches = fields.textMatches
        columns = fields.columns
        activation = fields.activation
        level = fields.level
    }

    /// The record of these fields.
    package var record: fl_sql {
        var fields = fl_sql()
        fields.prepare = prepare
        fields.parameters = parameters
        fields.wait = wait
        fields.syncTime = syncTime
        fields.open = open
        fields.log = log
        fields.virtualMachineSteps = virtualMachineSteps
        fields.columnsRead = columnsRead
        fields.statement = statement
        fields.plan = plan
        fields.values = values
        fields.type = type.rawValue
        fields.rows = rows
        fields.fullScanSteps = fullScanSteps
        fields.sorts = sorts
        fields.automaticIndexes = automaticIndexes
        fields.preparations = preparations
        fields.pageHits = pageHits
        fields.pageMisses = pageMisses
        fields.fileReads = fileReads
        fields.fileWrites = fileWrites
        fields.syncs = syncs
        fields.error = error
        fields.textComparisons = textComparisons
        fields.textMatches = textMatches
        fields.columns = columns
        fields.activation = activation
        fields.level = level
        return fields
    }
}
