package import FaultlineTrace

/// A trace of a grocery list: items with an image and a list, which screens show.
package struct Groceries {
    package var trace: TraceBuilder
    package let item: DictionaryID
    package let list: DictionaryID
    package let listName: DictionaryID
    package let shape: DictionaryID
    package let fetchSite: DictionaryID
    package let faultStack: DictionaryID
    package let batchStack: DictionaryID
    package let screenName: DictionaryID
    package let statement: DictionaryID
    /// The cost of a trip and of a row, in nanoseconds.
    package var trip: UInt64 = 10_000
    package var row: UInt64 = 2000

    package init(
        process: UInt32 = 7, prefetch: [String] = [], properties: [String]? = nil, includesPropertyValues: Bool? = nil,
        isImageExternal: Bool? = nil
    ) {
        var trace = TraceBuilder(process: process)
        item = trace.entity(
            "Item",
            [
                .init(name: "name", type: "String", declaredAt: "Groceries/Model.swift:11"),
                .init(
                    name: "image", type: "Binary", declaredAt: "Groceries/Model.swift:12", isExternal: isImageExternal),
                .init(name: "list", type: "toOne", destination: "List"),
                .init(name: "tags", type: "toMany", destination: "Tag", inverse: "item"),
            ])
        list = trace.entity(
            "List",
            [.init(name: "title", type: "String"), .init(name: "items", type: "toMany", destination: "Item")])
        listName = trace.define(.name(NameEntry(name: "list")))
        shape = trace.define(
            .shape(
                ShapeEntry(
                    entity: "Item", sort: ["name ascending"], prefetch: prefetch, expressions: properties,
                    includesPropertyValues: includesPropertyValues)))
        fetchSite = trace.site(42, "loadItems()")
        faultStack = trace.stack(57)
        batchStack = trace.stack(60)
        screenName = trace.define(.name(NameEntry(name: "scroll")))
        statement = trace.define(.statement(StatementEntry(sql: "SELECT * FROM ZITEM")))
        self.trace = trace
    }

    /// Adds a fetch of items, which loads its rows unless it has a batch size.
    package mutating func fetch(rows: UInt32, batchSize: UInt32 = 0, site: DictionaryID? = nil) -> EventID {
        var fetch = TraceEvent.Fetch()
        fetch.entity = item
        fetch.shape = shape
        fetch.rows = rows
        fetch.batchSize = batchSize
        fetch.trips = 1
        // No two fetches have the same values.
        fetch.parameters = trace.now
        fetch.bytes = batchSize == 0 ? UInt64(rows) * 100 : 0
        let perRow = batchSize == 0 ? row : row / 4
        return trace.event(.fetch(fetch), duration: trip + UInt64(rows) * perRow, site: site ?? fetchSite)
    }

    package mutating func batch(of fetch: EventID, first: UInt32, rows: UInt32) {
        var batch = TraceEvent.Batch()
        batch.fetch = fetch
        batch.entity = item
        batch.shape = shape
        batch.firstIndex = first
        batch.rows = rows
        batch.trips = 1
        batch.bytes = UInt64(rows) * 100
        trace.event(.batch(batch), duration: trip + UInt64(rows) * row, stack: batchStack)
    }

    /// Adds a fault of `item.list` on an object of a fetch.
    package mutating func fault(
        _ object: UInt64, of fetch: EventID, source: TraceEvent.Fault.Source = .store, stack: DictionaryID? = nil,
        duration: UInt64? = nil, change: (inout TraceEvent.Fault) -> Void = { _ in }
    ) {
        var fault = TraceEvent.Fault()
        fault.type = .toOne
        fault.source = source
        fault.entity = list
        fault.relationship = listName
        fault.relationshipEntity = item
        fault.object = object
        fault.origin = fetch
        fault.filled = 1
        change(&fault)
        trace.event(.fault(fault), duration: duration ?? trip + row, stack: stack ?? faultStack)
    }

    /// Scrolls through a result in screens of `screen` rows, and adds the result's use.
    package mutating func scroll(rows: UInt32, batchSize: UInt32, screen: UInt32, times: Int = 1) {
        for _ in 0..<times {
            let fetch = fetch(rows: rows, batchSize: batchSize)
            var loaded: UInt32 = batchSize == 0 ? rows : 0
            var windows: [UInt64: UInt64] = [:]
            var first: UInt32 = 0
            while first < rows {
                let shown = min(screen, rows - first)
                windows[UInt64(shown), default: 0] += 1
                let start = first
                scoped(screenName, .screen, pause: 200_000) { groceries in
                    while loaded < start + shown {
                        let size = min(batchSize, rows - loaded)
                        groceries.batch(of: fetch, first: loaded, rows: size)
                        loaded += size
                    }
                }
                first += shown
            }
            var use = Self.use(of: fetch, rows: rows, batchSize: batchSize)
            use.windows = windows.sorted { $0.key < $1.key }.map {
                .init(scopeKind: .screen, rows: $0.key, times: $0.value)
            }
            add(use)
        }
    }

    /// The use of every row of a result.
    package static func use(of fetch: EventID, rows: UInt32, batchSize: UInt32) -> TraceEvent.Use {
        var use = TraceEvent.Use()
        use.fetch = fetch
        use.batchSize = batchSize
        use.rows = rows
        use.loadedRows = rows
        use.touchedRows = rows
        use.touches = rows
        use.batchesLoaded = batchSize == 0 ? 1 : (rows + batchSize - 1) / batchSize
        use.bytes = UInt64(rows) * 100
        use.runs = [.init(first: 0, rows: UInt64(rows))]
        return use
    }

    package mutating func add(_ use: TraceEvent.Use) {
        var use = use
        use.entity = item
        use.shape = shape
        trace.event(.use(use))
    }
}

extension Groceries {
    package mutating func scoped(_ kind: TraceEvent.Scope.Kind, _ body: (inout Groceries) -> Void) {
        scoped(screenName, kind, pause: 0, body)
    }

    package mutating func scoped(
        _ name: DictionaryID, _ kind: TraceEvent.Scope.Kind, pause: UInt64, _ body: (inout Groceries) -> Void
    ) {
        var copy = self
        var trace = self.trace
        trace.scoped(name, kind, pause: pause) { inner in
            copy.trace = inner
            body(&copy)
            inner = copy.trace
        }
        copy.trace = trace
        self = copy
    }
}
