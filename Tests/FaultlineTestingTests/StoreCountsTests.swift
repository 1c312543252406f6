import FaultlineModel
import FaultlineRecorder
import FaultlineStore
import FaultlineTesting
import Foundation
import Testing

@Suite("Counting a store's work")
struct StoreCountsTests {
    private let store: BookStore
    private let recorder: Recorder

    init() throws {
        store = try BookStore()
        recorder = store.recorder
    }

    @Test("A prefetch takes two trips and causes no cache misses")
    func prefetched() throws {
        let (letters, counts) = try recorder.countingStore { try store.show(prefetching: ["shelf"]) }
        #expect(letters == 86)
        #expect(counts.fetches == 1)
        #expect(counts.trips == 2)
        #expect(counts.rows == 24)
        #expect(counts.faults == 24)
        #expect(counts.cacheMisses == 0)
        #expect(counts.bytes > 0)
        #expect(counts.lostEvents == 0)
    }

    @Test("Without a prefetch, every shelf takes a trip of its own")
    func missed() throws {
        let (letters, counts) = try recorder.countingStore { try store.show(prefetching: []) }
        #expect(letters == 86)
        #expect(counts.trips == 13)
        #expect(counts.rows == 24)
        #expect(counts.cacheMisses == 12)
    }

    @Test("A save counts what it wrote, and work without requests counts nothing")
    func saved() throws {
        let context = store.container.newBackgroundContext()
        let (_, counts) = try recorder.countingStore {
            try context.performAndWait {
                for number in 0..<3 { BookStore.Book(context: context)[BookStore.Book.title] = "New \(number)" }
                try context.save()
                try context.save()
            }
        }
        #expect(counts.saves == 1)
        #expect(counts.writtenObjects == 3)
        #expect(counts.trips > 3)
        #expect(recorder.countingStore {}.counts == StoreCounts())
    }

    @Test("A count of many objects is one trip and no rows")
    func count() throws {
        let context = store.container.newBackgroundContext()
        let (number, counts) = try recorder.countingStore {
            try context.performAndWait { try context.count(for: FetchRequest<BookStore.Book>()) }
        }
        #expect(number == 12)
        #expect(counts.trips == 1)
        #expect(counts.rows == 0)
    }

    @Test("Events that do not fit in the recorder's memory count as lost")
    func lost() {
        let loss = TraceMessage.lost(EventLoss(process: 1, thread: 1, events: 7))
        #expect(StoreCounts([loss]).lostEvents == 7)
    }
}
