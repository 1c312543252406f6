/// The methods that a class overrides, among those that the store calls for many objects.
///
/// Determined once per class: objects of a class that overrides none pay neither for the calls nor for preparing their
/// arguments.
struct OverriddenMethods: OptionSet, Sendable {
    let rawValue: UInt8
    static let awakeFromFetch = OverriddenMethods(rawValue: 1)
    static let willSave = OverriddenMethods(rawValue: 2)
    static let didSave = OverriddenMethods(rawValue: 4)
    static let validateValue = OverriddenMethods(rawValue: 8)
    static let prepareForDeletion = OverriddenMethods(rawValue: 16)
    static let validateForUpdate = OverriddenMethods(rawValue: 32)
    static let validateForDelete = OverriddenMethods(rawValue: 64)
    /// The methods that a batch request does not call.
    static let saving: OverriddenMethods = [
        .willSave, .didSave, .validateValue, .prepareForDeletion, .validateForUpdate, .validateForDelete,
    ]

    init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    init(of type: ManagedObject.Type) {
        var overridden: OverriddenMethods = []
        for (method, slot) in Self.slots {
            if slot?.isOverridden(in: type) ?? true { overridden.insert(method) }
        }
        self = overridden
    }

    private static let slots: [(OverriddenMethods, MethodSlot?)] = [
        (.awakeFromFetch, slot(AwakeFromFetchProbe.self)), (.willSave, slot(WillSaveProbe.self)),
        (.didSave, slot(DidSaveProbe.self)), (.validateValue, slot(ValidateValueProbe.self)),
        (.prepareForDeletion, slot(PrepareForDeletionProbe.self)),
        (.validateForUpdate, slot(ValidateForUpdateProbe.self)),
        (.validateForDelete, slot(ValidateForDeleteProbe.self)),
    ]

    private static func slot(_ probe: ManagedObject.Type) -> MethodSlot? {
        MethodSlot(of: ManagedObject.self, overriddenIn: probe, butNotIn: PlainProbe.self)
    }
}

extension ManagedObject {
    /// Whether the object's class overrides a method, or one of several.
    @inline(__always)
    final func overrides(_ methods: OverriddenMethods) -> Bool {
        // A program can create objects of a subclass of the class that it registered for the entity.
        !runtime.overridden.isDisjoint(with: methods) || type(of: self) != runtime.objectClass
    }
}

private final class PlainProbe: ManagedObject {}

private final class AwakeFromFetchProbe: ManagedObject {
    override func awakeFromFetch() { flags.insert(.isAwaking) }
}

private final class WillSaveProbe: ManagedObject {
    override func willSave() { flags.insert(.hasPending) }
}

private final class DidSaveProbe: ManagedObject {
    override func didSave() { flags.insert(.isGone) }
}

private final class ValidateValueProbe: ManagedObject {
    override func validateValue(_ value: inout Any?, forKey key: String) { value = nil }
}

private final class PrepareForDeletionProbe: ManagedObject {
    override func prepareForDeletion() { flags.insert(.isGone) }
}

private final class ValidateForUpdateProbe: ManagedObject {
    override func validateForUpdate() throws { flags.insert(.isGone) }
}

private final class ValidateForDeleteProbe: ManagedObject {
    override func validateForDelete() throws { flags.insert(.isGone) }
}

/// The position of a method in the method tables of a class and its subclasses, which says whether they override it.
///
/// Swift has no API for this, so it is read from the class's method table, whose position in the metadata is part of Swift's
/// ABI (https://github.com/swiftlang/swift/blob/main/docs/ABI/TypeMetadata.rst). A method that cannot be found there is to be
/// taken as overridden.
package struct MethodSlot: Sendable {
    private let offset: Int
    private let implementation: UInt

    /// Finds a method by comparing a class that overrides it with one that overrides none.
    ///
    /// - Returns: `nil` if the position is not unique.
    package init?(of base: AnyClass, overriddenIn probe: AnyClass, butNotIn plain: AnyClass) {
        let (base, plain, probe) = (MethodTable(base), MethodTable(plain), MethodTable(probe))
        let positions = stride(from: MethodTable.start, to: base.end, by: 8).filter {
            plain[$0] == base[$0] && probe[$0] != base[$0]
        }
        guard positions.count == 1 else { return nil }
        offset = positions[0]
        implementation = base[offset]
    }

    /// Whether a subclass, or one of its superclasses below the class that declares the method, overrides it.
    package func isOverridden(in type: AnyClass) -> Bool { MethodTable(type)[offset] != implementation }
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
