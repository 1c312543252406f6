package import FaultlineTrace

/// A trace with one of everything.
///
/// A list is scrolled in batches of 50. Its items fire faults for their lists one by one, and have images that are
/// never read. A save follows.
package enum GroceriesStory {
    package static var trace: [TraceMessage] {
        var groceries = Groceries()
        groceries.trace.isMainThread = true
        groceries.scroll(rows: 100, batchSize: 50, screen: 10)
        groceries.scoped(.screen) { groceries in
            let fetch = groceries.fetch(rows: 100)
            for object in 1...100 { groceries.fault(UInt64(object), of: fetch) }
            for object in 101...150 { groceries.fault(UInt64(object), of: fetch, source: .rowCache, duration: 300) }
            var use = Groceries.use(of: fetch, rows: 100, batchSize: 0)
            use.windows = [.init(scopeKind: .screen, rows: 100, times: 1)]
            use.properties = [
                .init(index: 0, rowsRead: 100, rowsLoaded: 100, bytes: 2000, largeRows: 0),
                .init(index: 1, rowsRead: 0, rowsLoaded: 100, bytes: 4_000_000, largeRows: 100),
            ]
            groceries.add(use)
        }
        var save = TraceEvent.Save()
        save.inserted = 3
        save.trips = 5
        save.bytes = 900
        save.entities = [.init(entity: groceries.item, inserted: 3)]
        let site = groceries.trace.site(90, "add()")
        let id = groceries.trace.event(.save(save), duration: 400_000, site: site, advancing: false)
        var statement = TraceEvent.Statement()
        statement.statement = groceries.statement
        statement.type = .write
        statement.rows = 3
        groceries.trace.event(.sql(statement), duration: 300_000, parent: id, site: site)
        return groceries.trace.closed { $0.writing = 120_000 }
    }
}
