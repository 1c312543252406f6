import CStore
import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

/// An object of a store: a row that is read when it is needed.
///
/// Subclasses name their entity and give its properties accessors; see ``AttributeKey``. An object belongs to its
/// context and is used on the context's queue only.
open class ManagedObject {
    /// The entity of the class's objects; the class's name unless said otherwise.
    open class var entityName: String { String(describing: self) }

    /// The context that the object belongs to.
    ///
    /// An object keeps its context alive.
    public final let managedObjectContext: ManagedObjectContext
    // The store holds it, and the context the store. Changes only while a fault fires, which no access overlaps.
    @exclusivity(unchecked)
    final unowned(unsafe) var runtime: EntityRuntime { didSet { layoutID = runtime.layoutID } }
    // From here on: no access lasts longer than a load or a store, and the context's queue is the only one that makes any.
    /// `Z_PK`, or a negative number until the object is saved.
    @exclusivity(unchecked)
    final var key: Int64
    @exclusivity(unchecked)
    final var flags: Flags { didSet { observeAttention() } }
    /// The number of the entity's layout.
    @exclusivity(unchecked)
    @usableFromInline final private(set) var layoutID: UInt32
    /// The properties that cannot be read from the row at once, one bit each: those whose fault did not fire, that may
    /// have unsaved values, or whose use is to be noted.
    @exclusivity(unchecked)
    @usableFromInline final private(set) var attention: UInt64 = .max
    /// Where the row lies; where there is none, one without values, so that reading need not ask.
    @exclusivity(unchecked)
    @usableFromInline final private(set) var rowAddress = cstore_no_row()
    @exclusivity(unchecked)
    final var block: RowBlock?
    @exclusivity(unchecked)
    final var pending: PendingChanges?
    /// What few objects have.
    @exclusivity(unchecked)
    private final var extras: Extras?
    @exclusivity(unchecked)
    final var trail = ObjectTrail()

    private final class Extras {
        var toMany: [Int: ToManyState] = [:]
        var transients: [Int: AttributeValue] = [:]
        var prefetched: PrefetchedObjects?
        var partial: PartialRow?
        var fetched: [String: [FetchedMember]] = [:]
        var watchedFault: EventID = 0
    }

    struct Flags: OptionSet {
        let rawValue: UInt16
        /// The row was not asked for yet.
        static let isFault = Flags(rawValue: 1)
        /// There are unsaved values.
        static let hasPending = Flags(rawValue: 2)
        /// Reading is to be noted: in a fetch's use summary, or of the relationship that led here.
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
        /// The trace knows that the object was changed or deleted.
        static let isChangeNoted = Flags(rawValue: 512)
        /// ``awakeFromFetch()`` runs: what is set does not count as a change.
        static let isAwaking = Flags(rawValue: 1024)
        /// ``prepareForDeletion()`` runs.
        static let isBeingDeleted = Flags(rawValue: 2048)

        /// Use off the queue ends the program.
        static let isQueueChecked = Flags(rawValue: 4096)

        static let slow: Flags = [.isFault, .hasPending, .isTracked, .isDetached, .isQueueChecked]
    }

    /// What the store makes objects from.
    public struct Seed {
        // Whoever makes an object holds both.
        unowned(unsafe) let context: ManagedObjectContext
        unowned(unsafe) let runtime: EntityRuntime
        let key: Int64
        let isInserted: Bool
    }

    /// Makes the object for a row.
    ///
    /// Called by the store only.
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

    /// Makes a new object of the class's entity in a context.
    ///
    /// It is in the store once the context was saved.
    public convenience init(context: ManagedObjectContext) {
        self.init(context.seed(forClass: Self.self))
        context.insert(self)
    }

    deinit {
        if extras != nil { observeRelease() }
        // The object holds its context until here, and that the table.
        Unmanaged.passUnretained(managedObjectContext.identities)._withUnsafeGuaranteedRef { $0.remove(self) }
    }

    /// Whether a class is this one or inherits from it.
    static func isInherited(by type: ManagedObject.Type) -> Bool { type is Self.Type }

    // MARK: - Life cycle

    /// Called once for a new object, to set what is not a constant default.
    open func awakeFromInsert() {}

    /// Called when the object's fault has fired and its values are there, to set transient attributes and what else
    /// is worked out of them.
    ///
    /// Attributes that are set here do not count as changes: the object stays as unchanged as it was. A relationship
    /// that is set here does, since that changes the object at its other end too. Not called where the row is gone or
    /// cannot be read.
    open func awakeFromFetch() {}

    /// Called when the object's values were put back to what they were, or changed under it, to work out anew what was
    /// worked out of them.
    open func awake(fromSnapshotEvents flags: SnapshotEventType) {}

    /// Called before the object is inserted, updated or deleted by a save, and before it is validated.
    ///
    /// What is changed here is saved as well. The method is called again for every object that was changed meanwhile,
    /// this one included, until none is; a value that is set to what it is already, and one that is set with
    /// ``setPrimitiveValue(_:forKey:)``, is no change. A save whose objects still change after 1,000 rounds throws.
    open func willSave() {}

    /// Called after the object was inserted, updated or deleted by a save.
    ///
    /// What is changed here is left for the next save.
    open func didSave() {}

    /// Called when the object is about to be deleted, while its relationships still lead where they did.
    open func prepareForDeletion() {}

    /// Called before the object lets go of its values, because it is refreshed or its context is reset.
    ///
    /// Not called when the object is released: `deinit` is there for that.
    open func willTurnIntoFault() {}

    /// Called after the object has let go of its values; see ``willTurnIntoFault()``.
    open func didTurnIntoFault() {}

    // MARK: - Validation

    /// Checks a value that a property is to have: whether there must be one, the least and the greatest value, the
    /// length and the regular expression of a text, how many objects a to-many relationship may lead to.
    ///
    /// A class that overrides this calls `super`. It can put another value in an attribute's value's place; a save takes
    /// that one. Called by a save for every stored property that it looks at, and by whoever wants to know beforehand.
    /// Traps if the entity has no such property.
    ///
    /// - Parameter value: as ``value(forKey:)`` gives it; `nil`: none.
    /// - Throws: ``StoreError`` if the value cannot be saved, or what a class that overrides this throws.
    open func validateValue(_ value: inout Any?, forKey key: String) throws {
        try checkValue(value, forKey: key)
    }

    /// Checks whether the object can be inserted: every property with ``validateValue(_:forKey:)``.
    ///
    /// Called by a save, after ``willSave()``. A class that overrides this calls `super`, and does not change the object.
    ///
    /// - Throws: ``StoreError``, with all failures if there are several, or what a class that overrides this throws.
    open func validateForInsert() throws {
        try checkForSave(all: true)
    }

    /// Checks whether the object's changes can be saved: every property that was set; see ``validateForInsert()``.
    open func validateForUpdate() throws {
        try checkForSave(all: false)
    }

    /// Checks whether the object can be deleted: no relationship with the rule deny may lead to an object.
    ///
    /// - Throws: as ``validateForInsert()``.
    open func validateForDelete() throws {
        try checkDenial()
    }

    // MARK: - Parts

    /// The row, which lies in `block`.
    @inline(__always)
    final var row: RowPointer? {
        get { rowAddress == cstore_no_row() ? nil : RowPointer(address: rowAddress) }
        set { rowAddress = newValue?.address ?? cstore_no_row() }
    }

    /// The members of to-many relationships, by property.
    final var toMany: [Int: ToManyState] {
        get { extras?.toMany ?? [:] }
        _modify { yield &madeExtras().toMany }
        set { if extras != nil || !newValue.isEmpty { madeExtras().toMany = newValue } }
    }

    /// Whether the members of a to-many relationship may be known.
    @inline(__always)
    final var hasToMany: Bool { extras != nil }

    /// Values of transient attributes, by property.
    final var transients: [Int: AttributeValue] {
        get { extras?.transients ?? [:] }
        _modify { yield &madeExtras().transients }
        set { if extras != nil || !newValue.isEmpty { madeExtras().transients = newValue } }
    }

    /// What was loaded along with the fetch that this object came from.
    final var prefetched: PrefetchedObjects? {
        get { extras?.prefetched }
        set { if extras != nil || newValue != nil { madeExtras().prefetched = newValue } }
    }

    /// What a fetch of partial faults has read; for a fault only.
    final var partial: PartialRow? {
        get { extras?.partial }
        set { if extras != nil || newValue != nil { madeExtras().partial = newValue } }
    }

    /// What fetched properties have found, by name.
    final var fetched: [String: [FetchedMember]] {
        get { extras?.fetched ?? [:] }
        set { if extras != nil || !newValue.isEmpty { madeExtras().fetched = newValue } }
    }

    /// The fault that filled the object with large values, if the trace is to tell when it lets go of them; 0: none.
    final var watchedFault: EventID {
        get { extras?.watchedFault ?? 0 }
        set { if extras != nil || newValue != 0 { madeExtras().watchedFault = newValue } }
    }

    /// Tells the trace that the object lets go of its values.
    private final func observeRelease() {
        guard watchedFault != 0 else { return }
        managedObjectContext.recordRelease(of: self)
        watchedFault = 0
    }

    /// Lets go of everything that was read.
    final func forgetRow() {
        if extras != nil { observeRelease() }
        (row, block) = (nil, nil)
        (prefetched, partial) = (nil, nil)
        fetched = [:]
    }

    private final func madeExtras() -> Extras {
        if let extras { return extras }
        let made = Extras()
        extras = made
        return made
    }

    /// Works out which properties can be read at once.
    final func observeAttention() {
        if !flags.isDisjoint(with: Flags.slow.subtracting(.isTracked)) {
            attention = .max
        } else {
            attention = flags.contains(.isTracked) ? ~trail.readSlots : 0
        }
    }

    // MARK: - Identity and state

    /// The object's identity; temporary until it was saved.
    ///
    /// Does not fire a fault.
    public final var objectID: ManagedObjectID {
        ManagedObjectID(store: runtime.store.identity, entity: runtime.schema, key: key)
    }

    /// The name of the object's entity.
    ///
    /// Does not fire a fault.
    public final var entityName: String { runtime.schema.name }

    /// Whether the object's values were not asked for yet.
    ///
    /// Its row may be in memory all the same.
    public final var isFault: Bool { flags.contains(.isFault) }

    /// Whether the object is new and was not saved yet.
    public final var isInserted: Bool { flags.contains(.isInserted) && !flags.contains(.isDeleted) }

    /// Whether a value or relationship was set since the object was read or saved.
    public final var isUpdated: Bool { flags.contains(.isUpdated) }

    /// Whether the object is to be deleted by the next save.
    public final var isDeleted: Bool { flags.contains(.isDeleted) }

    /// Whether there are unsaved changes.
    public final var hasChanges: Bool { !flags.isDisjoint(with: [.isInserted, .isUpdated, .isDeleted]) }

    /// Whether the object's row was looked for and is not in the store any more.
    ///
    /// Its attributes read as their defaults.
    public final var isInaccessible: Bool { flags.contains(.isGone) }

    /// Makes sure that the object's values are there.
    ///
    /// - Throws: ``StoreError`` if the row is gone or cannot be read. Not if they are there already.
    public final func fulfill() throws(StoreError) {
        guard flags.contains(.isFault) || flags.contains(.isGone) else { return }
        flags.insert(.isFault)
        flags.remove(.isGone)
        if let error = managedObjectContext.fire(self) { throw error }
    }
}

extension ManagedObject: Hashable {
    // One object stands for one row in a context, so identity is equality.
    public static func == (left: ManagedObject, right: ManagedObject) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}

extension ManagedObject: CustomStringConvertible {
    /// As SQLDebug prints it; does not fire a fault.
    public var description: String {
        "<\(type(of: self)): (entity: \(entityName); id: \(objectID); data: \(isFault ? "<fault>" : "…"))>"
    }
}

// Objects are confined to their context's queue.
@available(
    *, unavailable, message: "an object stays with its context; hand on its objectID, or the values that you need"
)
extension ManagedObject: Sendable {}
