/// The position of a method in the method tables of a class and its subclasses, which says whether they override it.
///
/// Swift has no API for this, so it is read from the class's method table, whose position in the metadata is part of Swift's
/// ABI (https://github.com/swiftlang/swift/blob/main/docs/ABI/TypeMetadata.rst). A method that cannot be found there is to be
/// taken as overridden.
struct MethodSlot: Sendable {
    private let offset: Int
    private let implementation: UInt

    /// Finds a method by comparing a class that overrides it with one that overrides none.
    ///
    /// - Returns: `nil` if the position is not unique.
    init?(of base: AnyClass, overriddenIn probe: AnyClass, butNotIn plain: AnyClass) {
        let (base, plain, probe) = (MethodTable(base), MethodTable(plain), MethodTable(probe))
        let positions = stride(from: MethodTable.start, to: base.end, by: 8).filter {
            plain[$0] == base[$0] && probe[$0] != base[$0]
        }
        guard positions.count == 1 else { return nil }
        offset = positions[0]
        implementation = base[offset]
    }

    /// Whether a subclass, or one of its superclasses below the class that declares the method, overrides it.
    func isOverridden(in type: AnyClass) -> Bool { MethodTable(type)[offset] != implementation }
}

/// The words of a class's metadata that its subclasses have at the same positions.
private struct MethodTable {
    private let metadata: UnsafeRawPointer

    init(_ type: AnyClass) {
        metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    }

    subscript(offset: Int) -> UInt { metadata.load(fromByteOffset: offset, as: UInt.self) }

    // After kind, superclass, flags, sizes, descriptor and destroyer; the words for Objective-C do not exist on Linux.
    static let start = 56

    var end: Int {
        Int(metadata.load(fromByteOffset: 32, as: UInt32.self))
            - Int(metadata.load(fromByteOffset: 36, as: UInt32.self))
    }
}
