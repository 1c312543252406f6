internal import FaultlineDocuments
internal import FaultlineFindings
internal import FaultlineProfile
package import FaultlineTrace

/// The profiles of https://www.speedscope.app, one for each weight that the trace has, and one for each thread.
///
/// A weight's profile has one sample for each call path, whose weight is the sum of its events. A thread's profile has
/// the events that took time, in the order of the run. The file follows
/// https://www.speedscope.app/file-format-schema.json.
package struct SpeedscopeExporter: TraceExporter {
    package static let name = "speedscope"
    package static let purpose = "for speedscope.app"
    package static let takesWeight = true

    private var trees: CallTreeSet
    private var programs: [String] = []
    private var frames = FrameTable()
    /// `nil` if only a weight other than the time is exported.
    private var runs: ThreadRuns?
    private var dictionaries: [UInt32: TraceDictionary] = [:]

    package init(_ options: ExportOptions) {
        trees = CallTreeSet(options.weight.map { [$0] } ?? CallTreeWeight.all)
        runs = (options.weight ?? .time) == .time ? ThreadRuns() : nil
    }

    package mutating func add(_ message: TraceMessage, to output: inout ExportBuffer) {
        switch message {
        case .began(let began):
            if !began.program.isEmpty { programs.append(began.shownName) }
            runs?.name(began.shownName, process: began.process)
        case .entry(let process, let id, let entry):
            dictionaries[process, default: TraceDictionary()].insert(entry, id: id)
            if case .thread(let thread) = entry { runs?.name(thread, process: process) }
        case .event(let event):
            guard runs != nil, ThreadRuns.shows(event) else { break }
            let title = TimelineLine(event, dictionaries[event.process] ?? TraceDictionary()).title
            runs?.add(event, frame: frames.position(of: CodeFunction(name: title, part: .store)))
        case .lost, .ended: break
        }
        trees.add(message)
    }

    package mutating func finish(_ output: inout ExportBuffer) {
        let trees = trees.finish()
        let threads = runs?.profiles() ?? []
        let profiles = trees.map { Self.profile($0, &frames).line } + threads
        let name = programs.uniqued.prefix(3).joined(separator: ", ")
        // The profile that the page opens with shows the run in order.
        let first = threads.isEmpty ? 0 : trees.count
        let file = JSONValue.object([
            ("$schema", .string("https://www.speedscope.app/file-format-schema.json")),
            ("exporter", .string("Faultline \(Version.current)")),
            ("name", .string(name.isEmpty ? "trace" : name)), ("activeProfileIndex", .integer(Int64(first))),
            ("shared", .object([("frames", .array(frames.values))])),
        ])
        output.append(file.line.dropLast())
        output.append(",\"profiles\":[\n")
        for (index, profile) in profiles.enumerated() {
            if index > 0 { output.append(",\n") }
            output.append(profile)
        }
        output.append("\n]}\n")
    }

    /// The functions and the names of events, which profiles refer to by position.
    private struct FrameTable {
        private var positions: [CodeFunction: Int] = [:]
        private(set) var values: [JSONValue] = []

        mutating func position(of function: CodeFunction) -> Int {
            if let known = positions[function] { return known }
            var members: [(key: String, value: JSONValue)] = [("name", .string(function.name))]
            let file = function.file.isEmpty ? function.module : function.file
            if !file.isEmpty { members.append(("file", .string(file))) }
            values.append(.object(members))
            positions[function] = values.count - 1
            return values.count - 1
        }
    }

    private static func profile(_ tree: CallTree, _ frames: inout FrameTable) -> JSONValue {
        var samples: [JSONValue] = []
        var weights: [JSONValue] = []
        var total: UInt64 = 0
        tree.forEachPath { path, weight in
            samples.append(.array(path.map { .integer(Int64(frames.position(of: $0.function))) }))
            weights.append(.unsigned(weight))
            total &+= weight
        }
        // Counts have no unit of their own there.
        let unit = tree.weight.unit == "count" ? "none" : tree.weight.unit
        return .object([
            ("type", .string("sampled")), ("name", .string(tree.weight.rawValue)), ("unit", .string(unit)),
            ("startValue", .integer(0)), ("endValue", .unsigned(total)), ("samples", .array(samples)),
            ("weights", .array(weights)),
        ])
    }
}
