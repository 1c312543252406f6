internal import FaultlineProfile
package import FaultlineTrace

/// Folded stacks: what `faultline tree --format folded` prints.
package struct FoldedExporter: TraceExporter {
    package static let name = "folded"
    package static let purpose = "for flame graph tools"
    package static let takesWeight = true

    private var trees: CallTreeSet

    package init(_ options: ExportOptions) {
        trees = CallTreeSet(options.weight.map { [$0] } ?? CallTreeWeight.usual)
    }

    package mutating func add(_ message: TraceMessage, to output: inout ExportBuffer) { trees.add(message) }

    package mutating func finish(_ output: inout ExportBuffer) {
        guard let tree = trees.finish().first else { return }
        output.append(FoldedRenderer.text(tree))
    }
}
