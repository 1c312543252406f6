/// The methods that a class overrides, among those that the store calls for many objects.
///
/// Determined once per class: objects of a class that overrides none pay neither for the calls nor for preparing their
/// arguments. Swift has no API for this, so it is read from the class's method table, whose position in the metadata is
/// part of Swift's ABI (https://github.com/swiftlang/swift/blob/main/docs/ABI/TypeMetadata.rst). A method that cannot
/// be found there counts as overridden.
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
            if slot.map({ MethodTable(type)[$0] != MethodTable(ManagedObject.self)[$0] }) ?? true {
                overridden.insert(method)
            }
        }
        self = overridden
    }

    /// The position of each method in the table, found by comparing a class that overrides it with one that overrides
    /// none.
    private static let slots: [(OverriddenMethods, Int?)] = [
        (.awakeFromFetch, MethodTable.slot(AwakeFromFetchProbe.self)),
        (.willSave, MethodTable.slot(WillSaveProbe.self)),
        (.didSave, MethodTable.slot(DidSaveProbe.self)), (.validateValue, MethodTable.slot(ValidateValueProbe.self)),
        (.prepareForDeletion, MethodTable.slot(PrepareForDeletionProbe.self)),
        (.validateForUpdate, MethodTable.slot(ValidateForUpdateProbe.self)),
        (.validateForDelete, MethodTable.slot(ValidateForDeleteProbe.self)),
    ]
}

extension ManagedObject {
    /// Whether the object's class overrides a method, or one of several.
    @inline(__always)
    final func overrides(_ methods: OverriddenMethods) -> Bool {
        // A program can create objects of a subclass of the class that it registered for the entity.
        !runtime.overridden.isDisjoint(with: methods) || type(of: self) != runtime.objectClass
    }
}

/// The words of a class's metadata that its subclasses have at the same positions.
private struct MethodTable {
    private let metadata: UnsafeRawPointer

    init(_ type: ManagedObject.Type) {
        metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
    }

    subscript(offset: Int) -> UInt { metadata.load(fromByteOffset: offset, as: UInt.self) }

    // After kind, superclass, flags, sizes, descriptor and destroyer; the words for Objective-C do not exist on Linux.
    private static let start = 56

    private var end: Int {
        Int(metadata.load(fromByteOffset: 32, as: UInt32.self))
            - Int(metadata.load(fromByteOffset: 36, as: UInt32.self))
    }

    /// The method's position; `nil` if it is not unique.
    static func slot(_ probe: ManagedObject.Type) -> Int? {
        let (base, plain, probe) = (Self(ManagedObject.self), Self(PlainProbe.self), Self(probe))
        let positions = stride(from: start, to: base.end, by: 8).filter {
            plain[$0] == base[$0] && probe[$0] != base[$0]
        }
        return positions.count == 1 ? positions[0] : nil
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
