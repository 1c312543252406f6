import Foundation

/// The events of a trace as `faultline events --format json` prints them.
struct RecordedEvents {
    /// One event.
    ///
    /// Fields that its kind does not have are `nil`.
    struct Event: Decodable {
        struct Window: Decodable {
            var scopeKind: String?
            var rows: UInt64
            var times: UInt64
        }
        struct Property: Decodable {
            var name: String?
            var rowsRead: UInt64
            var rowsLoaded: UInt64
            var bytes: UInt64
            var largeRows: UInt64
        }
        struct Prefetch: Decodable {
            var path: String
            var trips, rows, bytes, duration: UInt64
        }
        struct Change: Decodable {
            var entityName: String
        }

        var process: UInt32
        var kind: String
        var id: UInt64?
        var parent: UInt64?
        var scope: UInt64?
        var start: UInt64?
        var duration: UInt64?
        var runDelay: UInt64?
        var isMainThread: Bool?
        var overhead: UInt64?
        var phase: String?
        var events: UInt64?
        var lost: UInt64?
        var writing: UInt64?
        var entityName: String?
        var shapeName: String?
        var relationshipName: String?
        var relationshipEntityName: String?
        var scopeName: String?
        var scopeKind: String?
        var sql: String?
        var type: String?
        var source: String?
        var fetch: UInt64?
        var origin: UInt64?
        var batchSize: UInt64?
        var resultType: String?
        var rows: UInt64?
        var loadedRows: UInt64?
        var touchedRows: UInt64?
        var countAsked: UInt64?
        var emptinessAsked: UInt64?
        var modifiedRows: UInt64?
        var state: String?
        var operands: [UInt64]?
        var filled: UInt64?
        var hits: UInt64?
        var time: UInt64?
        var trips: UInt64?
        var bytes: UInt64?
        var prefetchedRows: UInt64?
        var prefetchedBytes: UInt64?
        var cacheHits: UInt64?
        var cacheMisses: UInt64?
        var wait: UInt64?
        var lockWait: UInt64?
        var prepare: UInt64?
        var step: UInt64?
        var materialise: UInt64?
        var commit: UInt64?
        var inserted: UInt64?
        var updated: UInt64?
        var deleted: UInt64?
        var conflicts: UInt64?
        var fullScanSteps: UInt64?
        var sorts: UInt64?
        var automaticIndexes: UInt64?
        var virtualMachineSteps: UInt64?
        var preparations: UInt64?
        var pageHits: UInt64?
        var pageMisses, fileReads, fileWrites, syncs, syncTime, log: UInt64?
        var error: UInt64?
        var textComparisons: UInt64?
        var textMatches: UInt64?
        var unchanged: UInt64?
        var seenBefore: Bool?
        var isWatched: Bool?
        var fault: UInt64?
        var prefetches: [Prefetch]?
        var objects: UInt64?
        var refreshed: UInt64?
        var resource: String?
        var isBlocking: Bool?
        var object: String?
        var windows: [Window]?
        var properties: [Property]?
        var entities: [Change]?
        var callSite: ReportDocument.Site?
        var stackSite: ReportDocument.Site?
    }

    let all: [Event]

    init(of trace: String) throws {
        let printed = try BuiltCommand.run(["events", trace, "--format", "json"])
        guard printed.status == 0 else { throw CommandFailed(text: printed.errors) }
        let decoder = JSONDecoder()
        all = try printed.output.split(separator: "\n").map { try decoder.decode(Event.self, from: Data($0.utf8)) }
    }

    /// Returns the events of some kinds.
    func of(_ kinds: String...) -> [Event] { all.filter { kinds.contains($0.kind) } }

    /// The events that take time in the store: all but ends of scopes, uses of results and lines about processes.
    ///
    /// Each fault in a sum of row-cache hits counts as an event with their mean time, and without an ID.
    var timed: [Event] {
        of("fetch", "batch", "fault", "cacheMiss", "save", "sql", "merge", "refresh", "wait") + hits
    }

    private var hits: [Event] {
        of("cacheHits").flatMap { sum in
            let (count, time) = (sum.hits ?? 0, sum.time ?? 0)
            return (0..<count).map { number in
                var fault = sum
                (fault.kind, fault.source, fault.id) = ("fault", "rowCache", nil)
                fault.duration = time / count + (number < time % count ? 1 : 0)
                fault.filled = number == 0 ? sum.filled : 0
                fault.bytes = number == 0 ? sum.bytes : 0
                return fault
            }
        }
    }

    /// The timed events that took time of their thread, which excludes waits that did not block it.
    var onThreads: [Event] { timed.filter { $0.isBlocking != false } }
}

extension Sequence where Element == RecordedEvents.Event {
    /// Returns the sum of a figure, in which events without it count as zero.
    func sum(_ figure: (Element) -> UInt64?) -> UInt64 { reduce(0) { $0 + (figure($1) ?? 0) } }
}

extension RecordedEvents.Event {
    /// The duration without waiting for a CPU, on which findings rest.
    var ownDuration: UInt64? { duration.map { $0 - min($0, runDelay ?? 0) } }

    /// A part of the duration, shorter by the same factor.
    func own(_ part: UInt64) -> UInt64 {
        guard let duration, let ownDuration, ownDuration < duration else { return part }
        return UInt64(Double(part) * (Double(ownDuration) / Double(duration)))
    }
}
