internal import FaultlineAnalysis
package import FaultlineTrace

/// A profile for pprof, with a value for each weight that the trace has.
///
/// The file is a `Profile` of https://github.com/google/pprof/blob/main/proto/profile.proto, compressed as gzip does.
package struct PprofExporter: TraceExporter {
    package static let name = "pprof"
    package static let purpose = "for pprof and continuous profilers"
    package static let takesWeight = true

    private var trees: CallTreeSet
    private var began: ProcessBegan?
    private var start = UInt64.max
    private var end: UInt64 = 0

    package init(_ options: ExportOptions) {
        trees = CallTreeSet(options.weight.map { [$0] } ?? CallTreeWeight.all, distinguishingLines: true)
    }

    package mutating func add(_ message: TraceMessage, to output: inout ExportBuffer) {
        switch message {
        case .began(let process):
            if began.map({ process.start < $0.start }) ?? true { began = process }
        case .event(let event):
            start = min(start, event.start)
            end = max(end, event.end)
        case .entry, .lost, .ended: break
        }
        trees.add(message)
    }

    package mutating func finish(_ output: inout ExportBuffer) {
        var profile = PprofProfile(trees.finish())
        let date = began?.date ?? 0
        if date > 0, date < 9e9 { profile.time = UInt64(date * 1e9) }
        profile.duration = end > start ? end - start : 0
        output.append(Gzip.compress(profile.encoded) ?? [])
    }
}
