import FaultlineTrace

// The operations that a thread's lines combine into.

extension SQLDebugThread {
    /// A SELECT, with the facts from the lines after it.
    final class Select {
        let statement: LogStatement
        /// Hashes of the bound values.
        var values: [UInt64] = []
        /// The time of SQLite, and the total including prefetches, in nanoseconds; `nil` if the log lacks it.
        var statementTime: UInt64?
        var time: UInt64?
        var reportedRows: UInt64?
        var rows: UInt64 { reportedRows ?? 0 }
        var entity: String?
        var isCount = false
        /// Whether the next SELECT is a prefetch of this one.
        var awaitsPrefetch = false
        var prefetches: [Prefetch] = []
        /// SQLite's plan; `nil` if the log lacks it.
        var plan: PlanEntry?
        /// The time of the last line about it; `nil` if the log has no times.
        var end: UInt64?
        /// The call site; `nil` if the log lacks it.
        var site: SiteEntry?

        init(_ statement: LogStatement, end: UInt64?) {
            (self.statement, self.end) = (statement, end)
        }
    }

    struct Prefetch {
        var key: String
        var rows: UInt64
        var select: Select
    }

    /// A completed operation with all its facts.
    enum Operation {
        case fetch(Select)
        case fault(Select, entity: String, object: UInt64)
        case toManyFault(Select, entity: String, name: String, object: UInt64, rows: UInt64)
        case statement(Plain)
        case saved(Transaction)
        /// A migration of the store began, at a time if the log has it.
        case migrating(UInt64?)
        case migrated(Migration)
    }

    /// A migration of the store, at its end.
    struct Migration {
        var way: TraceEvent.Migration.Way
        /// The duration in nanoseconds; `nil` if the log lacks it.
        var time: UInt64?
        var hasFailed = false
        var end: UInt64?
    }

    /// A statement other than a SELECT of an entity.
    struct Plain {
        var statement: LogStatement
        var type: TraceEvent.Statement.StatementType
        /// The duration in nanoseconds; `nil` if the log lacks it.
        var time: UInt64?
        var rows: UInt64?
        var end: UInt64?
    }

    /// The changes between BEGIN and COMMIT, and the times of the statements.
    struct Transaction {
        /// Tables of entities with their inserted, updated and deleted rows, in order of appearance.
        var changes: [(table: String, inserted: UInt64, updated: UInt64, deleted: UInt64)] = []
        /// The indices of the tables in `changes`.
        var places: [String: Int] = [:]
        /// Whether some statements do not show how many rows they wrote.
        var hasUnknownRows = false
        var statements: UInt32 = 0
        /// Whether the log has the time of a statement that writes.
        var isTimed = false
        /// The time of COMMIT in nanoseconds; `nil` if the log lacks it.
        var commit: UInt64?
        var begin: UInt64?
        var end: UInt64?
        /// The call site of the save; `nil` if the log lacks it.
        var site: SiteEntry?
        /// Whether a statement has ended the transaction, and whether it kept the changes.
        var isEnded = false, isKept = false

        mutating func add(_ statement: Plain) {
            guard let time = statement.time else { return }
            if isEnded { commit = time } else if statement.type == .write { isTimed = true }
        }
    }
}

extension SQLDebugTranslation {
    /// A save or a migration around statements.
    struct Enclosure {
        /// The place of the operation that begins it.
        var position: Int
        var isMigration: Bool
        /// Its event; 0 while names are learned, and for one that the log does not complete.
        var event: EventID = 0
        /// The time at which it began.
        var start: UInt64 = 0
    }
}
