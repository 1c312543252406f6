package import FaultlineTrace

/// A trace of a music library: tracks with a title, lyrics, a length and an album, fetched with various predicates.
package struct Music {
    package var trace: TraceBuilder
    package let track: DictionaryID
    package let album: DictionaryID
    package let fetchSite: DictionaryID
    package let screenName: DictionaryID
    package let readStack: DictionaryID
    /// The cost of a trip and of a row, in nanoseconds.
    package var trip: UInt64 = 10_000
    package var row: UInt64 = 2000

    /// The indexes of a track's properties.
    package enum Property: UInt64 {
        case title, lyrics, milliseconds, album
    }

    package init(process: UInt32 = 7, lengthType: String = "Integer 32") {
        var trace = TraceBuilder(process: process)
        track = trace.entity(
            "Track",
            [
                .init(name: "title", type: "String"), .init(name: "lyrics", type: "String"),
                .init(name: "milliseconds", type: lengthType),
                .init(name: "album", type: "toOne", destination: "Album"),
            ])
        album = trace.entity(
            "Album",
            [.init(name: "title", type: "String"), .init(name: "tracks", type: "toMany", destination: "Track")])
        fetchSite = trace.site(42, "tracks()")
        screenName = trace.define(.name(NameEntry(name: "album")))
        readStack = trace.stack(57)
        self.trace = trace
    }

    /// Defines a shape of fetches of tracks.
    package mutating func shape(
        _ predicate: String = "", _ terms: [ShapeEntry.Term]? = [], sort: [String] = [], isLimited: Bool = false,
        resultType: String = "objects"
    ) -> DictionaryID {
        trace.define(
            .shape(
                ShapeEntry(
                    entity: "Track", predicate: predicate, sort: sort, isLimited: isLimited, resultType: resultType,
                    terms: terms)))
    }

    /// Adds a fetch, which loads its rows unless it has a batch size.
    package mutating func fetch(
        _ shape: DictionaryID, rows: UInt32, site: DictionaryID? = nil, duration: UInt64? = nil,
        _ change: (inout TraceEvent.Fetch) -> Void = { _ in }
    ) -> EventID {
        var fetch = TraceEvent.Fetch()
        fetch.entity = track
        fetch.shape = shape
        fetch.rows = rows
        fetch.trips = 1
        change(&fetch)
        fetch.bytes = UInt64(rows) * (fetch.batchSize == 0 ? 100 : 8)
        let perRow = fetch.batchSize == 0 && fetch.resultType == .objects ? row : 0
        return trace.event(
            .fetch(fetch), duration: duration ?? trip + UInt64(rows) * perRow, site: site ?? fetchSite)
    }

    /// Adds fetches of a shape from another line, to which its costs are fitted exactly.
    package mutating func calibrate(_ shape: DictionaryID) {
        let site = trace.site(99, "calibrate()")
        for rows in 1...30 as ClosedRange<UInt32> { _ = fetch(shape, rows: rows, site: site) }
    }

    /// The use of a result that was loaded at once and not touched yet.
    package static func use(of fetch: EventID, rows: UInt32) -> TraceEvent.Use {
        var use = TraceEvent.Use()
        use.fetch = fetch
        use.rows = rows
        use.loadedRows = rows
        use.bytes = UInt64(rows) * 100
        return use
    }

    package mutating func add(_ use: TraceEvent.Use, shape: DictionaryID) {
        var use = use
        use.entity = track
        use.shape = shape
        trace.event(.use(use))
    }

    /// Fetches tracks, and adds the use of each result.
    package mutating func fetchAndUse(
        _ shape: DictionaryID, rows: UInt32, times: Int = 1, site: DictionaryID? = nil,
        _ change: (inout TraceEvent.Use) -> Void
    ) {
        for _ in 0..<times {
            var use = Self.use(of: fetch(shape, rows: rows, site: site), rows: rows)
            change(&use)
            add(use, shape: shape)
        }
    }

    /// Adds the statement of a fetch.
    package mutating func statement(
        of fetch: EventID, fullScanSteps: UInt32 = 0, virtualMachineSteps: UInt64 = 0, rows: UInt32 = 0
    ) {
        var statement = TraceEvent.Statement()
        statement.fullScanSteps = fullScanSteps
        statement.virtualMachineSteps = virtualMachineSteps
        statement.rows = rows
        trace.event(.sql(statement), duration: 1000, parent: fetch, advancing: false)
    }

    package mutating func scoped(
        _ kind: TraceEvent.Scope.Kind, pause: UInt64 = 0, _ body: (inout Music) -> Void
    ) {
        var copy = self
        var trace = self.trace
        trace.scoped(screenName, kind, pause: pause) { inner in
            copy.trace = inner
            body(&copy)
            inner = copy.trace
        }
        copy.trace = trace
        self = copy
    }
}

/// A story that consists of the events of a music library.
package protocol MusicStory {
    var music: Music { get set }
}

extension MusicStory {
    /// Adds a part of the story within a scope.
    package mutating func scoped(
        _ kind: TraceEvent.Scope.Kind, pause: UInt64 = 0, _ body: (inout Self) -> Void
    ) {
        var copy = self
        music.scoped(kind, pause: pause) { inner in
            copy.music = inner
            body(&copy)
            inner = copy.music
        }
        copy.music = music
        self = copy
    }
}

extension TraceEvent.Use {
    /// Touches the first rows, in one run.
    package mutating func touchFirst(_ count: UInt32, in scope: TraceEvent.Scope.Kind? = nil) {
        touchedRows = count
        touches = count
        runs = [.init(first: 0, rows: UInt64(count))]
        windows = [.init(scopeKind: scope, rows: UInt64(count), times: 1)]
    }

    /// Reads a property of a track in `read` rows.
    package mutating func read(_ property: Music.Property, rows read: UInt64, bytes: UInt64 = 0) {
        properties.append(
            .init(
                index: property.rawValue, rowsRead: read, rowsLoaded: UInt64(rows), bytes: bytes, largeRows: 0))
    }
}
