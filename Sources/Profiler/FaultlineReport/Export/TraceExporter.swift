package import FaultlineProfile
package import FaultlineTrace

/// Writes a trace in the format of another tool, message by message.
///
/// A format is a conforming type and a line in ``TraceExporters/all``.
package protocol TraceExporter: SendableMetatype {
    /// The value of `--to`, such as `"speedscope"`.
    static var name: String { get }
    /// The tools that read the format, in words that follow the name, such as `"for speedscope.app"`.
    static var purpose: String { get }

    /// Whether the format has a sum for each call path, which ``ExportOptions/weight`` chooses.
    static var takesWeight: Bool { get }

    init(_ options: ExportOptions)

    /// Adds a message of the trace.
    ///
    /// Messages come in the reader's order. Events that are not selected are left out.
    mutating func add(_ message: TraceMessage, to output: inout ExportBuffer)

    /// Writes the rest.
    mutating func finish(_ output: inout ExportBuffer)
}

extension TraceExporter {
    package static var takesWeight: Bool { false }
}

/// The selection and the form of an export.
package struct ExportOptions: Sendable {
    /// The weight of call paths, or `nil` for all that the trace has.
    package var weight: CallTreeWeight?

    package init(weight: CallTreeWeight? = nil) { self.weight = weight }
}

/// Bytes that wait to be written to a file.
package struct ExportBuffer: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init() {}

    mutating func append(_ text: some StringProtocol) { bytes.append(contentsOf: text.utf8) }

    mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    /// Empties the buffer after its bytes have been written.
    package mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}

/// The registry of formats to which a trace can be exported.
package enum TraceExporters {
    package static let all: [any TraceExporter.Type] = [
        TimelineExporter.self, SpeedscopeExporter.self, PprofExporter.self, OTLPExporter.self,
        FoldedExporter.self,
    ]

    /// The help of `--to`: the formats and their purposes.
    package static var help: String {
        let words = all.map { "\($0.name) \($0.purpose)" }
        return words.dropLast().joined(separator: ", ") + ", or \(words.last ?? "")."
    }
}
