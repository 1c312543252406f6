import FaultlineReader
import FaultlineTrace
import Foundation
import TestFolders
import Testing

/// The text of a log, as the reader reads it.
struct LogText {
    let messages: [TraceMessage]
    let summary: ReadingSummary
    private var dictionary = TraceDictionary()

    init(_ text: String) throws {
        let file = TestFolder.file("log")
        defer { try? FileManager.default.removeItem(at: file) }
        try text.write(to: file, atomically: false, encoding: .utf8)
        let reader = try TraceReader(path: file.path)
        #expect(reader.format == "sqlDebug")
        var messages: [TraceMessage] = []
        summary = try reader.read { messages.append($0) }
        self.messages = messages
        for case .entry(_, let id, let entry) in messages { dictionary.insert(entry, id: id) }
    }

    /// Prefixes each line with `CoreData: `, except lines that start with a bar.
    init(lines: [String]) throws {
        try self.init(
            lines.map { $0.hasPrefix("|") ? $0.dropFirst() + "\n" : "CoreData: \($0)\n" }.joined())
    }

    var events: [TraceEvent] {
        messages.compactMap { if case .event(let event) = $0 { event } else { nil } }
    }

    /// The processes with their programs.
    var programs: [String] {
        messages.compactMap { message in
            if case .began(let began) = message { "\(began.process) \(began.program)" } else { nil }
        }
    }

    var gaps: [TraceGap] {
        messages.compactMap { if case .began(let began) = $0 { began.gaps } else { nil } }.first ?? []
    }

    var shapes: [ShapeEntry] {
        messages.compactMap { if case .entry(_, _, .shape(let shape)) = $0 { shape } else { nil } }
    }

    var statements: [String] {
        messages.compactMap { if case .entry(_, _, .statement(let statement)) = $0 { statement.sql } else { nil } }
    }

    private func entity(_ id: DictionaryID) -> String { dictionary.entity(id)?.name ?? "?" }

    /// One line per operation, without its statements; unknown values are `–`.
    var operations: [String] {
        events.compactMap { event in
            let time = event.unrecorded.contains(.duration) ? "–" : "\(event.duration / 1000) µs"
            let rows = { (rows: UInt32) in event.unrecorded.contains(.rows) ? "–" : "\(rows)" }
            switch event.detail {
            case .fetch(let fetch):
                return "\(fetch.resultType) \(entity(fetch.entity)) \(rows(fetch.rows)) rows \(time)"
            case .batch(let batch): return "batch \(entity(batch.entity)) of \(batch.fetch) \(rows(batch.rows)) \(time)"
            case .fault(let fault):
                let name = dictionary.name(fault.relationship).map { ".\($0)" } ?? ""
                return "\(fault.type) \(entity(fault.entity))\(name) of \(fault.origin) \(time)"
            case .save(let save):
                let changes = save.entities.map {
                    "\(entity($0.entity)) +\($0.inserted) ~\($0.updated) -\($0.deleted)"
                }
                return
                    "save \(changes.joined(separator: ", "))\(event.unrecorded.contains(.rows) ? " and –" : "") \(time)"
            case .migration(let migration):
                let name = dictionary.name(migration.name).map { " \($0)" } ?? ""
                return "\(migration.stage)\(name) \(migration.way)\(migration.error == 0 ? "" : " failed") \(time)"
            default: return nil
            }
        }
    }

    /// Statements outside any operation, with their rows and durations.
    var others: [String] {
        events.compactMap { event in
            guard case .sql(let statement) = event.detail, event.parent == 0 else { return nil }
            let time = event.unrecorded.contains(.duration) ? "–" : "\(event.duration / 1000) µs"
            return "\(statement.type) \(event.unrecorded.contains(.rows) ? "–" : "\(statement.rows)") \(time)"
        }
    }

    /// The number of objects fetched from the store, by the entity of the fetch they are attributed to.
    var origins: [String: Int] {
        var entities: [EventID: String] = [:]
        for event in events { if case .fetch(let fetch) = event.detail { entities[event.id] = entity(fetch.entity) } }
        var counts: [String: Int] = [:]
        for event in events {
            if case .fault(let fault) = event.detail { counts[entities[fault.origin] ?? "none", default: 0] += 1 }
        }
        return counts
    }

    /// The number of faults attributed to each fetch, in the order of the fetches.
    var faultsOfFetches: [Int] {
        let fetches = events.filter { $0.kind == .fetch }.map(\.id)
        return fetches.map { id in
            events.count { if case .fault(let fault) = $0.detail { fault.origin == id } else { false } }
        }
    }
}
