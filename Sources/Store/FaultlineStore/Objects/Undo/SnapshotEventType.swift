/// The reasons why an object's values were restored or changed underneath it.
///
/// See ``ManagedObject/awake(fromSnapshotEvents:)``.
public struct SnapshotEventType: OptionSet, Sendable, Hashable {
    /// The options as bits.
    public let rawValue: UInt

    /// Creates a set of options from its bits.
    public init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// The object's insertion was undone or redone.
    public static let undoInsertion = SnapshotEventType(rawValue: 1 << 1)
    /// The object's deletion was undone or redone.
    public static let undoDeletion = SnapshotEventType(rawValue: 1 << 2)
    /// A change of the object was undone or redone.
    public static let undoUpdate = SnapshotEventType(rawValue: 1 << 3)
    /// The context was rolled back.
    public static let rollback = SnapshotEventType(rawValue: 1 << 4)
    /// The object was refreshed and kept its changes.
    public static let refresh = SnapshotEventType(rawValue: 1 << 5)
    /// A merge policy resolved a conflict.
    public static let mergePolicy = SnapshotEventType(rawValue: 1 << 6)
}
