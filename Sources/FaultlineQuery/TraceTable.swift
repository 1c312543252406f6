/// A table that a trace is queried through.
///
/// Each kind of events has one of its own, with a row for each event. A column has the name of the event's field, unless SQL
/// has taken that word: see ``columnName(ofKey:)``.
public struct TraceTable: Sendable {
    public struct Column: Sendable, Hashable {
        public let name: String
        /// `"INTEGER"`, or `"TEXT"`.
        public let type: String
        /// What it holds, in a few words.
        public let meaning: String
    }

    public let name: String
    /// What a row is.
    public let purpose: String
    public let columns: [Column]

    /// - Parameter columns: One a line: its name, `#` before a number, and what it holds.
    private init(_ name: String, _ purpose: String, _ columns: String) {
        self.name = name
        self.purpose = purpose
        self.columns = columns.split(separator: "\n").map { line in
            let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
            let isNumber = parts[0].hasPrefix("#")
            return Column(
                name: isNumber ? String(parts[0].dropFirst()) : parts[0], type: isNumber ? "INTEGER" : "TEXT",
                meaning: parts[1])
        }
    }

    /// A table of the events of one kind.
    private init(events name: String, _ purpose: String, _ columns: String) {
        self.init(name, purpose, Self.common + "\n" + columns + "\n" + Self.places)
    }

    /// The column that holds the value of an event's key.
    ///
    /// A few keys are words that SQL needs for itself. Their columns have other names, so that no query has to quote them.
    public static func columnName(ofKey key: String) -> String {
        switch key {
        case "commit": "commitTime"
        case "limit": "rowLimit"
        case "offset": "rowOffset"
        case "values": "parameterValues"
        default: key
        }
    }

    /// The table with a name.
    static func named(_ name: String) -> TraceTable? { all.first { $0.name == name } }

    /// What every event has.
    static let common = """
        #process the process's number
        #id the event's number in its process
        #parent the event that it is part of; 0: none
        #scope the scope that it happened in, the id of its scope events; 0: none
        #start when it began, in nanoseconds from the recording's start
        #duration how long it took, in nanoseconds
        #thread the kernel's number of its thread
        #isMainThread 1 on the main thread
        threadName the thread's name
        #context the context's number; 0: none
        contextName the context's name
        #site the number of the line that asked for it; 0: not known
        #stack the number of its call stack; 0: none
        #runDelay time its thread waited for a CPU, in nanoseconds; 0: none or unknown
        #overhead what recording it took, in nanoseconds
        """

    /// Where in the program it happened.
    private static let places = """
        callSite the line of the program that asked for it: List.swift:42
        callFunction the function of that line
        stackSite the innermost line of the program in its call stack
        stackFunction the function of that line
        """

    private static let entity = """
        #entity the entity's number
        entityName the entity
        """

    private static let shape = """
        #shape the number of the request without its values
        shapeName the request in words: Item where list == ? by name
        """

    private static let changes = """
        #inserted objects that were new
        #updated objects that were changed
        #deleted objects that were deleted
        #conflicts objects that somebody else had changed
        entities JSON: entity, inserted, updated and deleted of each entity
        """

    public static let all: [TraceTable] = [
        TraceTable(
            "processes", "A process of the trace.",
            """
            #process its number
            program the path of its program
            #start when its recording began, in nanoseconds
            #end when its recording ended; NULL: it did not
            #events events that it recorded
            #lost events that it had no room for
            #isClosed 1: it ended its recording itself
            """),
        TraceTable(
            events: "fetch", "A fetch request that ran.",
            entity + "\n" + shape + "\n" + """
                parameters a keyed hash of the request's values
                #parameterValues the number of the request's values; 0: the trace has none
                valuesName JSON: the values, each with its type, if the trace was recorded with them
                resultType objects, objectIDs, count or dictionaries
                #rowLimit the fetch limit; 0: none
                #rowOffset the fetch offset
                #batchSize the batch size; 0: everything at once
                #rows rows that matched
                #trips round trips to SQLite, those of prefetching included
                #bytes bytes of column values that were read
                #prefetchedRows rows that prefetching read
                #prefetchedBytes bytes that prefetching read
                #wait waiting for the store, in nanoseconds
                #prepare preparing the statement, in nanoseconds
                #step stepping through the rows, in nanoseconds
                #materialise making objects of rows, in nanoseconds
                #pending comparing objects with unsaved changes in memory, in nanoseconds
                #cacheHits rows that the row cache held already
                #cacheMisses rows that it did not hold
                #pendingObjects objects with unsaved changes that were compared
                #error SQLite's result code; 0: none
                operands JSON: a keyed hash of the values of each term
                prefetches JSON: for each key path its trips, rows, bytes and time
                """),
        TraceTable(
            events: "batch", "A batch of a result whose rows were loaded.",
            "#fetch the id of its fetch\n" + entity + "\n" + shape + "\n" + """
                #firstIndex the place of its first row in the result
                #rows rows that were loaded
                #trips round trips
                #bytes bytes of column values that were read
                #prefetchedRows rows that prefetching read
                #prefetchedBytes bytes that prefetching read
                #cacheHits rows that the row cache held already
                #error SQLite's result code; 0: none
                prefetches JSON: for each key path its trips, rows, bytes and time
                """),
        TraceTable(
            events: "fault", "A fault that fired.",
            """
            type object, toOne or toMany
            source rowCache, store, or gone where there was no row
            """ + "\n" + entity + "\n" + """
                #relationship the number of the relationship that led to it; 0: none
                relationshipName the relationship
                #relationshipEntity the number of the relationship's entity
                relationshipEntityName the relationship's entity
                object a keyed hash of the object's identity
                #seenBefore 1: its row had been in memory before
                #origin the id of the fetch that the object came from; 0: none
                #filled objects that were filled
                #bytes bytes of column values that were read
                #error SQLite's result code; 0: none
                #isWatched 1: a release tells when the object lets go of its values
                #isDeleting 1: a deletion asked for it, to follow its delete rules
                """),
        TraceTable(
            events: "cacheMiss", "A fault that the row cache could not serve.",
            "#fault the id of its fault\n" + entity + "\n#seenBefore 1: its row had been in memory before"),
        TraceTable(
            events: "save", "A save.",
            """
            #changedColumns columns that were written in updates
            #trips round trips
            #bytes bytes of column values that were written
            #lockWait waiting for the lock to write, in nanoseconds
            #commitTime in COMMIT, in nanoseconds
            #error SQLite's result code; 0: none
            #unchanged objects that were set to what the store had, and not written
            """ + "\n" + changes
                + "\nunread JSON: fetch, deleted, updated, properties and values by fetch"
        ),
        TraceTable(
            events: "sql", "A statement that ran.",
            """
            #statement the statement's number
            sql its text, with ? for values
            #plan the plan's number; 0: none
            planText SQLite's plan
            type read, write, transaction or schema
            #rows rows that it returned or changed
            #fullScanSteps steps of full table scans
            #sorts sorts that SQLite made
            #automaticIndexes rows of indexes that SQLite made for it alone
            #virtualMachineSteps operations of SQLite's virtual machine
            #preparations how often it was prepared
            #pageHits pages that the page cache held
            #pageMisses pages that were read
            #error SQLite's result code; 0: none
            #textComparisons texts that functions of the store's compared
            #textMatches those among them that were found, fitted or were equal
            """),
        TraceTable(
            events: "use", "What was used of a fetch's result, told at its end.",
            "#fetch the id of its fetch\n" + entity + "\n" + shape + "\n" + """
                state closed; open: the program still held it at the end
                #batchSize the batch size; 0: none
                #rows rows that matched
                #loadedRows rows that were loaded
                #bytes bytes of the loaded rows
                #touchedRows rows that were taken out
                #touches how often rows were taken out
                #batchesLoaded batches that were loaded
                #countAsked how often the number of rows was asked for
                #emptinessAsked how often no more than whether there is one
                #identitiesAsked how often the identities alone
                #modifiedRows rows whose object was changed or deleted
                #firstUse when it was first used, in nanoseconds
                #lastUse when it was last used, in nanoseconds
                #runsLost runs that there was no room for
                runs JSON: first and rows of each run of rows that were taken out one after the other
                windows JSON: scopeKind, rows and times of what was taken out at a time
                properties JSON: name, rowsRead, rowsLoaded, bytes and largeRows of each property
                """),
        TraceTable(
            events: "scope", "The beginning or the end of a scope; both have the scope's id.",
            """
            #name the number of its name
            scopeName its name
            scopeKind other, screen, request, bulk, test or setup
            phase begin or end
            """),
        TraceTable(
            events: "merge", "A context that took in what another one saved.",
            """
            trigger call, automatic or remote
            #saver the number of the context that saved
            saverName its name
            #refreshed objects that were read anew
            """ + "\n" + changes),
        TraceTable(
            events: "refresh", "Objects that were made faults again.",
            entity + "\n" + """
                #objects how many
                #changed those among them that had unsaved changes
                #keepsChanges 1: these were kept
                """),
        TraceTable(
            events: "release", "An object that let go of 16 KiB or more, or a result that held such objects.",
            "#fetch the id of the fetch of a result; 0: an object\n#fault the id of the fault that filled it\n" + entity
                + "\n" + """
                    object a keyed hash of the object's identity
                    #bytes bytes of its values
                    """),
        TraceTable(
            events: "wait", "A wait for a queue or a lock.",
            """
            resource contextQueue, coordinator, connection or sqlite
            #isBlocking 1: a thread stood still meanwhile
            #holder the number of the context that held it; 0: not known
            holderName its name
            #holderSite the number of the line that had asked for that context's work
            holderSiteName that line
            #holderThread the kernel's number of the thread that held it; 0: not known
            #holderProcess the number of the process that held it; 0: this one, or not known
            #tries how often SQLite's lock was asked for anew
            #error SQLite's result code if it was waited for in vain; 0: it was had
            """),
        TraceTable(
            "frames", "A frame of a call stack; of functions that were inlined, one for each.",
            """
            #process the process's number
            #stack the stack's number
            #depth 0 for the innermost behind the recorder's own
            module the program or library
            function the function
            file its file
            #line its line
            """),
    ]
}
