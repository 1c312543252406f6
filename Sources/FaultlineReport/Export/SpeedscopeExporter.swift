internal import FaultlineAnalysis
package import FaultlineTrace

/// The profiles of https://www.speedscope.app, one for each weight that the trace has.
///
/// A profile has one sample for each call path, whose weight is the sum of its events. The file follows
/// https://www.speedscope.app/file-format-schema.json.
package struct SpeedscopeExporter: TraceExporter {
    package static let name = "speedscope"
    package static let purpose = "for speedscope.app"

    private var trees: CallTreeSet
    private var programs: [String] = []

    package init(_ options: ExportOptions) {
        trees = CallTreeSet(options.weight.map { [$0] } ?? CallTreeWeight.all)
    }

    package mutating func add(_ message: TraceMessage, to output: inout ExportBuffer) {
        if case .began(let began) = message, let name = began.program.split(separator: "/").last {
            programs.append(String(name))
        }
        trees.add(message)
    }

    package mutating func finish(_ output: inout ExportBuffer) {
        var frames = FrameTable()
        let profiles = trees.finish().map { Self.profile($0, &frames) }
        let name = programs.uniqued.prefix(3).joined(separator: ", ")
        output.append(
            JSONValue.object([
                ("$schema", .string("https://www.speedscope.app/file-format-schema.json")),
                ("exporter", .string("Faultline \(Version.current)")),
                ("name", .string(name.isEmpty ? "trace" : name)), ("activeProfileIndex", .integer(0)),
                ("shared", .object([("frames", .array(frames.values))])), ("profiles", .array(profiles)),
            ]).line + "\n")
    }

    /// The functions, which samples refer to by position.
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
