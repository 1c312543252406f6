internal import FaultlineTrace

/// Text for the parts of a signature.
enum SignatureText {
    /// A shape as its entity and a hash, which is short but unambiguous.
    ///
    /// It omits prefetched key paths, so following one piece of advice does not rename other findings. It also omits
    /// the fields that newer recorders add, so findings keep their names.
    static func shape(_ shape: ShapeEntry) -> String {
        var shape = shape
        shape.prefetch = []
        shape.terms = nil
        shape.includesPropertyValues = nil
        let hash = String(StableHash.text(shape.sortText), radix: 16)
        return "\(shape.entity)#" + String(repeating: "0", count: 16 - hash.count) + hash
    }
}
