import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace
import Foundation
import Testing

@Suite("Faults that the row cache fills are counted")
struct CacheHitTests {
    private let store: TestStore

    init() throws {
        store = try TestStore(isRecording: true, countsHits: true)
        try store.fill(items: 40, categories: 4, tags: 5)
    }

    /// The sums that are recorded while a closure runs.
    private func sums(_ work: () throws -> Void) rethrows -> [(event: TraceEvent, hits: TraceEvent.CacheHits)] {
        let begin = store.events.count
        try work()
        return store.events[begin...].compactMap { event in
            if case .cacheHits(let hits) = event.detail { (event, hits) } else { nil }
        }
    }

    /// The sums of those that differ only in the store's own part of their stacks.
    ///
    /// A key's first read takes another way through the store. Tests that run at the same time share the keys.
    private func joined(
        _ sums: [(event: TraceEvent, hits: TraceEvent.CacheHits)]
    ) -> [(event: TraceEvent, hits: TraceEvent.CacheHits)] {
        Dictionary(grouping: sums) { "\(names($0.hits)) \($0.hits.origin) \($0.event.parent)" }.values.map { same in
            var sum = same[0]
            for other in same.dropFirst() {
                sum.hits.hits += other.hits.hits
                sum.hits.filled += other.hits.filled
                sum.hits.bytes += other.hits.bytes
                sum.hits.time += other.hits.time
                sum.event.duration = max(sum.event.end, other.event.end) - sum.event.start
            }
            return sum
        }
    }

    private func names(_ hits: TraceEvent.CacheHits) -> String {
        let dictionary = store.dictionary
        let relationship = dictionary.name(hits.relationship).map { ".\($0)" } ?? ""
        return "\(hits.type) \(dictionary.entity(hits.entity)?.name ?? "?")\(relationship)"
    }

    @Test("in one event for each fetch and relationship, when their scope ends")
    func groups() throws {
        var fetched: [EventID] = []
        let recorded = try sums {
            try store.recorder.scope("list", kind: .screen) {
                for _ in 0..<2 {
                    store.context.reset()
                    for item in try store.context.fetch(FetchRequest<Item>()) {
                        #expect(item.name.hasPrefix("Item") && item.category?.name != nil)
                    }
                    #expect(store.events.last?.kind != .cacheHits)
                }
            }
            fetched = store.events.suffix(20).filter { $0.kind == .fetch }.map(\.id)
        }
        let sums = joined(recorded)
        #expect(recorded.count <= 8)
        #expect(
            sums.map { names($0.hits) }.sorted() == [
                "object Item", "object Item", "toOne Category.category", "toOne Category.category",
            ])
        let scope = try #require(store.events.last { $0.kind == .scope }?.id)
        for (event, hits) in sums {
            // The context does not keep the categories from one item to the next.
            #expect(hits.hits == 40)
            #expect(hits.filled == hits.hits && hits.bytes >= 64 * hits.hits)
            #expect(event.scope == scope && event.context != 0 && event.stack != 0)
        }
        // The first fault of each context is timed.
        #expect(sums.contains { $0.hits.time > 0 } && sums.contains { $0.event.end > $0.event.start })
        #expect(Set(sums.map(\.hits.origin)) == Set(fetched) && fetched.count == 2)
        #expect(
            !store.events.contains {
                if case .fault(let fault) = $0.detail { fault.source == .rowCache } else { false }
            })
    }

    @Test("for each line of the program separately")
    func lines() throws {
        let items = Array(try store.context.fetch(FetchRequest<Item>()))
        let sums = sums {
            store.recorder.scope("lines") {
                for item in items[..<10] { _ = item.name }
                for item in items[10...] { _ = item.name }
            }
        }
        #expect(sums.reduce(0) { $0 + $1.hits.hits } == 40)
        // No sum has hits of both lines.
        #expect(sums.allSatisfy { $0.hits.hits <= 30 } && (2...4).contains(sums.count))
        #expect(Set(sums.map(\.event.stack)).count == sums.count)
    }

    @Test("for to-many relationships with the number of their members")
    func members() throws {
        let request = FetchRequest<Category>(relationshipKeyPathsForPrefetching: ["items"])
        let sums = try sums {
            try store.recorder.scope("categories") {
                for category in try store.context.fetch(request) { #expect(category.items.count == 10) }
            }
        }
        let toMany = try #require(joined(sums).first { $0.hits.type == .toMany })
        #expect(names(toMany.hits) == "toMany Category.items")
        #expect(toMany.hits.hits == 4 && toMany.hits.filled == 40 && toMany.hits.bytes == 320)
        #expect(toMany.hits.time > 0)
    }

    @Test("within the event around them, which ends after them")
    func nested() throws {
        let items = Array(try store.context.fetch(FetchRequest<Item>()))
        var outer: EventID = 0
        let sums = try sums {
            let open = try #require(store.recorder.begin())
            outer = open.id
            for item in items { _ = item.name }
            store.recorder.end(open, TraceEvent.Save())
        }
        #expect(joined(sums).map(\.event.parent) == [outer] && joined(sums).map(\.hits.hits) == [40])
        // The store may end an idle transaction meanwhile, on a thread of its own.
        let thread = try #require(store.events.first { $0.id == outer }?.thread)
        #expect(store.events.last { $0.thread == thread }?.id == outer)
    }

    @Test("in the scope that a task brings to the thread")
    func tasks() async throws {
        let context = store.context
        await store.recorder.scope("task", kind: .request) {
            await Task.yield()
            context.performAndWait {
                let items = (try? context.fetch(FetchRequest<Item>())).map { Array($0) } ?? []
                for item in items { _ = item.name }
            }
        }
        let scope = try #require(store.events.last { $0.kind == .scope }?.id)
        let sums = store.events.compactMap { event in
            if case .cacheHits(let hits) = event.detail, event.scope == scope { hits.hits } else { nil }
        }
        #expect(sums.reduce(0, +) == 40)
    }

    @Test("and one at a time if the recorder records each fault, or if a row is large")
    func single() throws {
        let large = String(repeating: "x", count: 20_000)
        let items = try store.context.fetch(FetchRequest<Item>(sortDescriptors: [.ascending("name")]))
        items[0].name = large
        try store.context.save()
        store.context.reset()
        let counted = try sums {
            try store.recorder.scope("large") {
                for item in try store.context.fetch(FetchRequest<Item>()) { #expect(!item.name.isEmpty) }
            }
        }
        // Changing the first item fired its fault outside the scope.
        #expect(counted.filter { $0.event.scope != 0 }.reduce(0) { $0 + $1.hits.hits } == 39)
        let faults = store.events.compactMap { event -> TraceEvent.Fault? in
            if case .fault(let fault) = event.detail, fault.source == .rowCache { fault } else { nil }
        }
        #expect(faults.map(\.isWatched) == [true] && faults.first?.bytes ?? 0 >= 20_000)

        let each = try TestStore(isRecording: true)
        try each.fill(items: 5)
        for item in try each.context.fetch(FetchRequest<Item>()) { #expect(!item.name.isEmpty) }
        #expect(!each.events.contains { $0.kind == .cacheHits })
        #expect(each.events.count { $0.kind == .fault } == 5)
    }

    @Test("A fault that goes to the store again records how much has entered the row cache since")
    func history() throws {
        let store = try TestStore(isRecording: true, countsHits: true) { $0.rowCacheLimit = 64 << 10 }
        try store.fill(items: 3000)
        store.context.reset()
        store.container.persistentStoreCoordinator.removeUnusedRows()
        let ids = try store.context.fetchObjectIDs(FetchRequest<Item>(sortDescriptors: [.ascending("price")]))
        func faults(_ ids: some Sequence<ManagedObjectID>) throws -> [TraceEvent.Fault] {
            let begin = store.events.count
            for id in ids { _ = try store.context.existingObject(with: id) }
            return store.events[begin...].compactMap { event in
                if case .fault(let fault) = event.detail, fault.source == .store { fault } else { nil }
            }
        }
        let (start, all) = (store.recorder.now(), try faults(ids))
        #expect(all.count == 3000)
        let again = try faults(ids.prefix(100))
        let elapsed = store.recorder.now() - start
        #expect(again.count == 100)
        for fault in again {
            // Nearly all rows were loaded between the two faults, each with at least 64 bytes.
            #expect(fault.seenBefore && fault.loadedSince > 2900 * 64 && fault.sinceCached < elapsed)
        }
        // Saved rows entered the row cache when they were written.
        #expect(all.allSatisfy { $0.seenBefore })
    }
}
