import FaultlineRecorder
import FaultlineStore
import Foundation
import TruthKit

/// Work with one flaw, which `verify` tries to mend.
struct Workload {
    static let names = [
        "index", "count", "exists", "sum", "first", "identities", "wide", "loop", "owners", "needless", "scroll",
        "order", "saves", "sort",
    ]

    let store: TruthStore
    let context: ManagedObjectContext

    /// How often the work is done: less often where each time is long.
    private var times: Int { store.rows > 20_000 ? 10 : 24 }

    /// Does the work, once in a scope of preparation if the caches are to be warm.
    func run(_ name: String, isWarm: Bool) throws {
        if isWarm {
            try Faultline.scope("warming", kind: .setup) { try work(name, 0) }
            context.reset()
        }
        switch name {
        case "saves": try Faultline.scope(name, kind: .bulk) { try work(name, 0) }
        case "loop", "scroll": try Faultline.scope(name, kind: .request) { try work(name, 0) }
        default:
            for time in 0..<times {
                try Faultline.scope(name, kind: .request) { try work(name, time) }
                context.reset()
            }
        }
    }

    private func work(_ name: String, _ time: Int) throws {
        switch name {
        case "index":
            for thing in try context.fetch(inGroup(time)) { Sink.add(thing.size + thing.text.utf8.count) }
        case "count": Sink.add(try context.fetch(inGroup(time)).count)
        case "exists": Sink.add(try context.fetch(inGroup(time)).isEmpty ? 1 : 0)
        case "sum": Sink.add(try context.fetch(inGroup(time)).reduce(0) { $0 + $1.size })
        case "first": Sink.add(try context.fetch(inGroup(time)).first?.size ?? 0)
        case "identities": Sink.add(try context.fetch(inGroup(time)).map(\.objectID).count)
        case "wide": try wide(time)
        case "loop": try loop()
        case "owners": try owners(time)
        case "needless": try needless(time)
        case "scroll": try scroll()
        case "order": try order(time)
        case "saves": try saves()
        case "sort": try sort()
        default: throw CommandFailed(description: "There is no workload \(name).")
        }
    }

    private func inGroup(_ time: Int) -> FetchRequest<Thing> {
        FetchRequest(predicate: PropertyPath("group") == time % store.groups)
    }
}

/// Uses the values that a workload reads, so that the compiler does not remove the reads.
enum Sink {
    nonisolated(unsafe) private static var sum = 0

    /// Called on one thread only.
    static func add(_ value: Int) { sum &+= value }
}

extension Workload {
    /// Rows with a large value that nobody reads.
    private func wide(_ time: Int) throws {
        let request = FetchRequest<Thing>(
            predicate: PropertyPath("number") >= time * 10, sortDescriptors: [.ascending("number")],
            fetchLimit: min(store.rows / 2, 400))
        for thing in try context.fetch(request) { Sink.add(thing.size + thing.number) }
    }

    /// A fetch for each of some owners.
    private func loop() throws {
        for owner in try context.fetch(FetchRequest<Owner>(fetchLimit: 10 * times)) {
            for thing in try context.fetch(FetchRequest<Thing>(predicate: PropertyPath("owner") == owner)) {
                Sink.add(thing.size + thing.text.utf8.count)
            }
        }
    }

    /// A fault for the owner of each row.
    private func owners(_ time: Int) throws {
        let request = FetchRequest<Thing>(
            sortDescriptors: [.ascending("number")], fetchLimit: 100, fetchOffset: time * 10)
        for thing in try context.fetch(request) { Sink.add(thing.owner?.name.utf8.count ?? 0) }
    }

    /// Owners that come with the rows and are never read.
    private func needless(_ time: Int) throws {
        var request = FetchRequest<Thing>(
            sortDescriptors: [.ascending("number")], fetchLimit: 200, fetchOffset: time * 10)
        request.relationshipKeyPathsForPrefetching = ["owner"]
        for thing in try context.fetch(request) { Sink.add(thing.size) }
    }

    /// A list that is scrolled through in screens of twenty rows, loaded as a whole.
    private func scroll() throws {
        let found = try context.fetch(FetchRequest<Thing>(sortDescriptors: [.ascending("number")]))
        for screen in 0..<5 {
            Faultline.scope("screenful", kind: .screen) {
                for row in 0..<20 { Sink.add(found[screen * 20 + row].size) }
            }
        }
    }

    /// A text is searched before a number is compared.
    private func order(_ time: Int) throws {
        let text = PropertyPath("text").contains("to \(time)", options: [.caseInsensitive])
        let predicate = text && PropertyPath("size") < max(1, Int(1000 * store.share))
        for thing in try context.fetch(FetchRequest<Thing>(predicate: predicate)) { Sink.add(thing.size) }
    }

    /// Each object is saved by itself.
    private func saves() throws {
        let request = FetchRequest<Thing>(sortDescriptors: [.ascending("number")], fetchLimit: 10 * times)
        for thing in try context.fetch(request) {
            thing[Thing.sizeKey] = thing.size + 1
            try context.save()
        }
    }

    /// The largest few, for which all are sorted.
    private func sort() throws {
        let request = FetchRequest<Thing>(sortDescriptors: [.descending("size")], fetchLimit: 20)
        for thing in try context.fetch(request) { Sink.add(thing.size + thing.number) }
    }
}
