import FaultlineTrace
import Foundation

/// Reads the XML that `xctrace export` creates from the Core Data tables of an Instruments recording.
///
/// An export contains fetches, saves, faults and relationship faults with their durations, threads and stacks. It has
/// no SQL, predicates or values, and no use of results. System binaries are recognized by their paths, so the call
/// site is the first frame of the app; without symbols it is an offset in the app's binary.
final class XctraceReader {
    /// The data that the tables of an export lack.
    private static let gaps: [TraceGap] = [
        .init(.statements, remedy: "-com.apple.CoreData.SQLDebug 1"),
        .init(.values, remedy: "-com.apple.CoreData.SQLDebug 2"),
        .init(.plans, remedy: "-com.apple.CoreData.SQLDebug 4"), .init(.counters), .init(.use), .init(.sizes),
        .init(.origins),
        .init(.rowCache), .init(.waits), .init(.errors), .init(.model), .init(.changes), .init(.exactTimes),
    ]

    private let path: String
    private var summary = ReadingSummary()
    private var names = EntryTable()
    private var events: [TraceEvent] = []
    /// Processes with their programs, in the order of the file.
    private var processes: [(number: UInt32, program: String)] = []
    private var known: Set<UInt32> = []
    /// Stacks by the value that defines them; the values are kept because their identifiers are the keys.
    private var stacks: [ObjectIdentifier: (value: XctraceDocument.Value, id: DictionaryID)] = [:]
    private var end: UInt64 = 0

    init(path: String) {
        self.path = path
    }

    func readEvents(_ body: (TraceMessage) throws -> Void) throws -> ReadingSummary {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ReaderError.cannotRead(path, line: 0, EIO)
        }
        if let (line, problem) = XctraceText.excess(in: data) {
            throw ReaderError.excessiveXctrace(path, line: line, problem)
        }
        let (isExport, isWhole) = try XctraceDocument.read(data) { add($0) }
        guard isExport else { throw ReaderError.foreignXML(path) }
        guard summary.events > 0 || isWhole else { throw ReaderError.brokenXctrace(path) }
        guard summary.events > 0 else { throw ReaderError.emptyXctrace(path) }
        summary.isTruncated = !isWhole
        summary.processes = processes.map(\.number)
        summary.entries = names.entries.count
        for (process, program) in processes {
            try body(
                .began(
                    ProcessBegan(
                        process: process, program: program, source: .instruments, gaps: Self.gaps, isApp: true)))
            try names.forEach(of: process, body)
        }
        for event in events { try body(.event(event)) }
        // If the file is cut off, nobody knows how much is missing.
        guard isWhole else { return summary }
        let counts = Dictionary(events.map { ($0.process, 1 as UInt64) }, uniquingKeysWith: +)
        for (process, _) in processes {
            try body(.ended(ProcessEnded(process: process, end: end, events: counts[process] ?? 0)))
        }
        return summary
    }

    // MARK: - Rows

    private func add(_ row: XctraceDocument.Row) {
        guard let detail = detail(of: row) else {
            summary.foreignLines += 1
            return
        }
        guard let start = row["start"]?.number,
            let duration = (row["duration"] ?? row["fault-duration"])?.number,
            start < 1 << 53, duration < 1 << 53
        else {
            summary.countMalformed("a row has no time")
            return
        }
        let thread = row["thread"]
        let owner = row.child("process", of: thread)
        // A row without a process belongs to the previous one.
        let recorded = row.child("pid", of: owner)?.number.map { UInt32(clamping: max(1, $0)) }
        let process = recorded ?? processes.last?.number ?? 1
        if known.insert(process).inserted {
            // "TestApp (12345)"
            let program = (owner?.attributes["fmt"] ?? "").split(separator: " (").first.map(String.init)
            processes.append((process, program ?? ""))
        }
        summary.events += 1
        end = max(end, start + duration)
        events.append(
            TraceEvent(
                id: EventID(summary.events), start: start, duration: duration,
                thread: UInt32(truncatingIfNeeded: row.child("tid", of: thread)?.number ?? 0),
                isMainThread: thread?.attributes["fmt"]?.hasPrefix("Main Thread") ?? false, process: process,
                stack: stack(of: row), detail))
    }

    private func detail(of row: XctraceDocument.Row) -> TraceEvent.Detail? {
        switch row.schema {
        case "core-data-fetch":
            let entity = row["fetch-entity"]?.text ?? ""
            var fetch = TraceEvent.Fetch()
            fetch.entity = names.id(.entity(EntityEntry(name: entity)))
            fetch.shape = names.id(.shape(ShapeEntry(entity: entity, hasUnrecordedValues: true)))
            fetch.rows = UInt32(clamping: row["fetch-count"]?.number ?? 0)
            fetch.trips = 1
            return .fetch(fetch)
        case "core-data-save": return .save(TraceEvent.Save())
        case "core-data-fault":
            guard let object = Self.object(row["fault-object"]) else { return nil }
            return .fault(fault(of: object))
        case "core-data-relationship-fault":
            guard let object = Self.object(row["relationship-fault-source"]) else { return nil }
            var fault = fault(of: object)
            fault.type = .toMany
            fault.relationshipEntity = fault.entity
            fault.relationship = names.id(.name(NameEntry(name: row["relationship"]?.text ?? "")))
            return .fault(fault)
        default: return nil
        }
    }

    /// Instruments records only faults that went to the store.
    private func fault(of object: (entity: String, hash: UInt64)) -> TraceEvent.Fault {
        var fault = TraceEvent.Fault()
        fault.type = .object
        fault.source = .store
        fault.entity = names.id(.entity(EntityEntry(name: object.entity)))
        fault.object = object.hash
        fault.filled = 1
        return fault
    }

    /// The entity and a hash of the URI in `0xa917… <x-coredata://UUID/Feature/p95>`.
    private static func object(_ value: XctraceDocument.Value?) -> (entity: String, hash: UInt64)? {
        guard let text = value?.text, let start = text.range(of: "x-coredata://") else { return nil }
        let uri = text[start.upperBound...].prefix { $0 != ">" }
        let parts = uri.split(separator: "/")
        guard parts.count == 3 else { return nil }
        return (String(parts[1]), StableHash.text(uri))
    }

    // MARK: - Dictionary

    /// A stack with only the app's frames, since system frames are lines that nobody can change.
    private func stack(of row: XctraceDocument.Row) -> DictionaryID {
        guard var backtrace = row["backtrace"] else { return 0 }
        // Newer exports nest it in a "tagged-backtrace".
        if let inner = row.child("backtrace", of: backtrace) { backtrace = inner }
        let key = ObjectIdentifier(backtrace)
        if let known = stacks[key] { return known.id }
        var addresses: [String] = []
        for frame in row.children("frame", of: backtrace) {
            guard let address = frame.attributes["addr"], let binary = row.child("binary", of: frame),
                Self.isApp(binary)
            else {
                continue
            }
            addresses.append(address)
            let name = frame.attributes["name"] ?? ""
            let word = name.isEmpty || name.hasPrefix("0x") ? Self.location(address, in: binary) : name
            _ = names.id(
                .frame(
                    FrameEntry(
                        address: address, module: binary.attributes["name"] ?? "",
                        locations: [FrameEntry.Location(symbol: word, function: word)])))
        }
        let number = addresses.isEmpty ? 0 : names.id(.stack(StackEntry(frames: addresses)))
        stacks[key] = (backtrace, number)
        return number
    }

    private static func isApp(_ binary: XctraceDocument.Value) -> Bool {
        let path = binary.attributes["path"] ?? ""
        let system = ["/System/", "/usr/lib/", "/Library/Developer/", "/Applications/Xcode"]
        // Simulators contain copies of the system.
        return !path.isEmpty && !system.contains { path.hasPrefix($0) } && !path.contains("/RuntimeRoot/")
    }

    /// The offset in the binary, such as `TestApp.debug.dylib+0x1ca1f`: the same in every run, wherever it was loaded.
    private static func location(_ address: String, in binary: XctraceDocument.Value) -> String {
        let number = { (text: String?) in text.flatMap { UInt64($0.dropFirst(2), radix: 16) } }
        let name = binary.attributes["name"] ?? "app"
        guard let location = number(address), let base = number(binary.attributes["load-addr"]), location >= base else {
            return "\(name) \(address)"
        }
        return "\(name)+0x" + String(location - base, radix: 16)
    }
}

// MARK: - The format

/// The XML that `xctrace export` creates from the Core Data tables of Instruments.
extension XctraceReader: TraceSource {
    package static let name = "xctrace"
    package static let foreignFiles: String? = "a table that xctrace exported"

    package static func recognition(of file: TraceFile) -> TraceRecognition {
        file.firstCharacters.first == UInt8(ascii: "<") && file.text.contains("<trace-query-result") ? .certain : .no
    }
}
