import CStore
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

/// An object of a store, which reads its row when a value is needed.
///
/// Subclasses name their entity and declare accessors for its properties; see ``AttributeKey``. An object belongs to
/// its context and may be used on the context's queue only.
open class ManagedObject {
    /// The entity of the class's objects; by default the class's name.
    open class var entityName: String { String(describing: self) }

    /// The context that the object belongs to.
    ///
    /// An object keeps its context alive.
    public final let managedObjectContext: ManagedObjectContext
    // The context holds the store, which holds the runtime. Changes only while a fault fires, which overlaps no access.
    @exclusivity(unchecked)
    package final unowned(unsafe) var runtime: EntityRuntime { didSet { layoutID = runtime.layoutID } }
    // The properties below are accessed by single loads and stores, on the context's queue only.
    /// `Z_PK`; a negative number until the object is saved.
    @exclusivity(unchecked)
    package final var key: Int64
    @exclusivity(unchecked)
    final var flags: Flags { didSet { observeAttention() } }
    /// The number of the entity's layout.
    @exclusivity(unchecked)
    @usableFromInline final private(set) var layoutID: UInt32
    /// The properties that cannot be read directly from the row, one bit each: the object is a fault, may have unsaved
    /// values, or must record the use.
    @exclusivity(unchecked)
    @usableFromInline final private(set) var attention: UInt64 = .max
    /// The row's address; without a row, that of an empty row, which saves a check on each read.
    @exclusivity(unchecked)
    @usableFromInline final private(set) var rowAddress = cstore_no_row()
    @exclusivity(unchecked)
    final var block: RowBlock?
    @exclusivity(unchecked)
    package final var pending: PendingChanges?
    /// State that few objects need.
    @exclusivity(unchecked)
    private final var extras: Extras?
    @exclusivity(unchecked)
    final var trail = ObjectTrail()

    private final class Extras {
        var toMany: [Int: ToManyState] = [:]
        var transients: [Int: PendingValue] = [:]
        var prefetched: PrefetchedObjects?
        var partial: PartialRow?
        var fetched: [String: [FetchedMember]] = [:]
        var watchedFault: EventID = 0
    }

    struct Flags: OptionSet {
        let rawValue: UInt16
        /// The values have not been accessed.
        static let isFault = Flags(rawValue: 1)
        /// There are unsaved values.
        static let hasPending = Flags(rawValue: 2)
        /// Reads must be recorded: in a fetch's use summary, or for the relationship that reached the object.
        static let isTracked = Flags(rawValue: 4)
        static let isInserted = Flags(rawValue: 8)
        static let isUpdated = Flags(rawValue: 16)
        static let isDeleted = Flags(rawValue: 32)
        /// The store had no row when the fault fired.
        static let isGone = Flags(rawValue: 64)
        /// The context was reset, or the deletion saved.
        static let isDetached = Flags(rawValue: 128)
        /// The row turned out to be of a subentity whose objects are of another class.
        static let hasOtherClass = Flags(rawValue: 256)
        /// The trace has recorded that the object was changed or deleted.
        static let isChangeNoted = Flags(rawValue: 512)
        /// ``awakeFromFetch()`` is running: setting attributes does not count as a change.
        static let isAwaking = Flags(rawValue: 1024)
        /// ``prepareForDeletion()`` is running.
        static let isBeingDeleted = Flags(rawValue: 2048)

        /// Use off the context's queue traps.
        static let isQueueChecked = Flags(rawValue: 4096)

        static let slow: Flags = [.isFault, .hasPending, .isTracked, .isDetached, .isQueueChecked]
    }

    /// The arguments of ``ManagedObject/init(_:)``, which only the store creates.
    public struct Seed {
        // The caller of `init(_:)` holds both.
        unowned(unsafe) let context: ManagedObjectContext
        unowned(unsafe) let runtime: EntityRuntime
        let key: Int64
        let isInserted: Bool
    }

    /// Creates the object for a row.
    ///
    /// Only the store calls this initializer.
    public required init(_ seed: Seed) {
        managedObjectContext = seed.context
        runtime = seed.runtime
        layoutID = seed.runtime.layoutID
        key = seed.key
        flags = seed.isInserted ? [.isInserted, .hasPending] : .isFault
        if seed.context.isQueueChecked { flags.insert(.isQueueChecked) }
        if seed.isInserted {
            pending = seed.runtime.newChanges()
            if !seed.runtime.transientDefaults.isEmpty { transients = seed.runtime.transientDefaults }
        }
    }

    /// Creates a new object of the class's entity in a context.
    ///
    /// The next save of the context writes it to the store.
    public convenience init(context: ManagedObjectContext) {
        self.init(context.seed(forClass: Self.self))
        context.insert(self)
    }

    deinit {
        if extras != nil { observeRelease() }
        // The object holds its context until here, and the context holds the table.
        Unmanaged.passUnretained(managedObjectContext.identities)._withUnsafeGuaranteedRef { $0.remove(self) }
    }

    /// Whether a class is this one or inherits from it.
    static func isInherited(by type: ManagedObject.Type) -> Bool { type is Self.Type }

    // MARK: - Life cycle

    /// Called once for a new object, to set defaults that are not constant.
    open func awakeFromInsert() {}

    /// Called after the object's fault has fired, to set transient attributes and other derived state.
    ///
    /// Setting an attribute here does not count as a change. Setting a relationship does, because it also changes the
    /// object at the other end. Not called if the row is gone or cannot be read.
    open func awakeFromFetch() {}

    /// Called after the object's values were restored or changed underneath it, to recompute derived state.
    open func awake(fromSnapshotEvents flags: SnapshotEventType) {}

    /// Called before a save inserts, updates or deletes the object, and before it is validated.
    ///
    /// Changes made here are saved too. The method is called again for every object that changed in the meantime,
    /// including this one, until none does. Setting a value that the property already has, or setting one with
    /// ``setPrimitiveValue(_:forKey:)``, is not a change. A save whose objects still change after 1,000 rounds throws.
    open func willSave() {}

    /// Called after a save has inserted, updated or deleted the object.
    ///
    /// Changes made here are left for the next save.
    open func didSave() {}

    /// Called when the object is about to be deleted, while its relationships are still intact.
    open func prepareForDeletion() {}

    /// Called before the object discards its values because it is refreshed or its context is reset.
    ///
    /// Not called when the object is released; use `deinit` for that.
    open func willTurnIntoFault() {}

    /// Called after the object has discarded its values; see ``willTurnIntoFault()``.
    open func didTurnIntoFault() {}

    // MARK: - Validation

    /// Validates a value for a property against the model.
    ///
    /// Checks that a mandatory property has a value, that the value lies between minimum and maximum, that a text fits
    /// its length limits and regular expression, and that a to-many relationship has an allowed number of objects. A
    /// save calls this method for every stored property that it checks; a program may call it earlier.
    ///
    /// An override calls `super`. It may replace the value of an attribute, and the save then writes the replacement.
    /// Traps if the entity has no such property.
    ///
    /// - Parameters:
    ///   - value: The value as ``value(forKey:fileID:line:function:)`` returns it; `nil` for none.
    ///   - key: The name of the property.
    /// - Throws: ``StoreError`` if the value cannot be saved, or the error that an override throws.
    open func validateValue(_ value: inout Any?, forKey key: String) throws {
        try checkValue(value, forKey: key)
    }

    /// Validates every property with ``validateValue(_:forKey:)`` before the object is inserted.
    ///
    /// Called by a save, after ``willSave()``. An override calls `super` and does not change the object.
    ///
    /// - Throws: ``StoreError``, with all failures if there are several, or the error that an override throws.
    open func validateForInsert() throws {
        try checkForSave(all: true)
    }

    /// Validates every property that was set before the object's changes are saved; see ``validateForInsert()``.
    open func validateForUpdate() throws {
        try checkForSave(all: false)
    }

    /// Checks that no relationship with the delete rule deny has an object.
    ///
    /// - Throws: The same errors as ``validateForInsert()``.
    open func validateForDelete() throws {
        try checkDenyRules()
    }

    // MARK: - Storage

    /// The row, which is part of `block`.
    @inline(__always)
    final var row: RowPointer? {
        get { rowAddress == cstore_no_row() ? nil : RowPointer(address: rowAddress) }
        set { rowAddress = newValue?.address ?? cstore_no_row() }
    }

    /// The members of to-many relationships, by property.
    final var toMany: [Int: ToManyState] {
        get { extras?.toMany ?? [:] }
        _modify { yield &makeExtras().toMany }
        set { if extras != nil || !newValue.isEmpty { makeExtras().toMany = newValue } }
    }

    /// Whether the object may have members of a to-many relationship in memory.
    @inline(__always)
    final var hasToMany: Bool { extras != nil }

    /// Values of transient attributes, and objects of transient to-one relationships, by property.
    final var transients: [Int: PendingValue] {
        get { extras?.transients ?? [:] }
        _modify { yield &makeExtras().transients }
        set { if extras != nil || !newValue.isEmpty { makeExtras().transients = newValue } }
    }

    /// The objects that were prefetched with the fetch that returned this object.
    final var prefetched: PrefetchedObjects? {
        get { extras?.prefetched }
        set { if extras != nil || newValue != nil { makeExtras().prefetched = newValue } }
    }

    /// The columns that a fetch of partial objects has read; only for a fault.
    final var partial: PartialRow? {
        get { extras?.partial }
        set { if extras != nil || newValue != nil { makeExtras().partial = newValue } }
    }

    /// The results of fetched properties, by name.
    final var fetched: [String: [FetchedMember]] {
        get { extras?.fetched ?? [:] }
        set { if extras != nil || !newValue.isEmpty { makeExtras().fetched = newValue } }
    }

    /// The fault that loaded large values, if the trace must record their release; 0 if none.
    final var watchedFault: EventID {
        get { extras?.watchedFault ?? 0 }
        set { if extras != nil || newValue != 0 { makeExtras().watchedFault = newValue } }
    }

    /// Records in the trace that the object releases its large values.
    private final func observeRelease() {
        guard watchedFault != 0 else { return }
        managedObjectContext.recordRelease(of: self)
        watchedFault = 0
    }

    /// Releases everything that was read.
    final func forgetRow() {
        if extras != nil { observeRelease() }
        (row, block) = (nil, nil)
        (prefetched, partial) = (nil, nil)
        fetched = [:]
    }

    private final func makeExtras() -> Extras {
        if let extras { return extras }
        let made = Extras()
        extras = made
        return made
    }

    /// Recomputes the properties that cannot be read directly from the row.
    final func observeAttention() {
        if !flags.isDisjoint(with: Flags.slow.subtracting(.isTracked)) {
            attention = .max
        } else {
            attention = flags.contains(.isTracked) ? ~trail.readSlots : 0
        }
    }

    // MARK: - Identity and state

    /// The object's identity; temporary until the object is saved.
    ///
    /// Does not fire a fault.
    public final var objectID: ManagedObjectID {
        ManagedObjectID(store: runtime.store.identity, entity: runtime.schema, key: key)
    }

    /// The name of the object's entity.
    ///
    /// Does not fire a fault.
    public final var entityName: String { runtime.schema.name }

    /// Whether the object's values have not been accessed.
    ///
    /// Its row may be in memory nevertheless.
    public final var isFault: Bool { flags.contains(.isFault) }

    /// Whether the object is new and has not been saved.
    public final var isInserted: Bool { flags.contains(.isInserted) && !flags.contains(.isDeleted) }

    /// Whether a value or relationship was set since the object was last read or saved.
    public final var isUpdated: Bool { flags.contains(.isUpdated) }

    /// Whether the next save will delete the object.
    public final var isDeleted: Bool { flags.contains(.isDeleted) }

    /// Whether the object has unsaved changes.
    public final var hasChanges: Bool { !flags.isDisjoint(with: [.isInserted, .isUpdated, .isDeleted]) }

    /// Whether the object's row was not found in the store.
    ///
    /// Its attributes read as their defaults.
    public final var isInaccessible: Bool { flags.contains(.isGone) }

    /// Loads the object's values, if they are not in memory.
    ///
    /// - Throws: ``StoreError`` if the row is gone or cannot be read, but not if the values are already in memory.
    public final func fulfill() throws(StoreError) {
        guard flags.contains(.isFault) || flags.contains(.isGone) else { return }
        flags.insert(.isFault)
        flags.remove(.isGone)
        if let error = managedObjectContext.fire(self, isThrowing: true) { throw error }
    }
}

extension ManagedObject: Hashable {
    // A context has one object per row, so identity is equality.
    /// Whether both are the same object.
    public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

    /// Feeds the parts that `==` compares to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

extension ManagedObject: CustomStringConvertible {
    /// The form that SQLDebug prints; does not fire a fault.
    public var description: String {
        "<\(type(of: self)): (entity: \(entityName); id: \(objectID); data: \(isFault ? "<fault>" : "…"))>"
    }
}

// Objects are confined to their context's queue.
@available(
    *, unavailable, message: "an object belongs to its context; pass its objectID, or the values that you need"
)
extension ManagedObject: Sendable {}
