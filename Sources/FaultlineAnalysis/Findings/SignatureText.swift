internal import FaultlineTrace

/// The parts of signatures.
enum SignatureText {
    /// A shape, short enough to read and long enough to tell apart.
    ///
    /// What is prefetched is left out: following one piece of advice does not rename the others. So is what a newer
    /// recorder tells of the terms: with it a finding keeps its name.
    static func shape(_ shape: ShapeEntry) -> String {
        var shape = shape
        shape.prefetch = []
        shape.terms = nil
        shape.includesPropertyValues = nil
        let hash = String(StableHash.text(shape.sortText), radix: 16)
        return "\(shape.entity)#" + String(repeating: "0", count: 16 - hash.count) + hash
    }
}
