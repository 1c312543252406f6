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
    final var flags: Flags { didSet { noteAttention() } }
    /// The number of the entity's layout.
    @exclusivity(unchecked)
    @usableFromInline final private(set) var layoutID: UInt32
    /// The properties that cannot be read from the row at once, one bit each: those whose fault did not fire, that may
    /// have unsaved values, or whose use is to be noted.
    @exclusivity(unchecked)
    @usableFromInline final private(set) var attention: UInt64 = .max
    /// The row, which lies in `block`.
    @exclusivity(unchecked)
    @usableFromInline final var row: RowPointer?
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
    }

    struct Flags: OptionSet {
        let rawValue: UInt16
        /// The row was not asked for yet.
        static let isFault = Flags(rawValue: 1)
        /// There are unsaved values.
        static let hasPending = Flags(rawValue: 2)
        /// Reading is to be noted in a fetch's use summary.
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
        /// The fetch's use summary knows that the object was changed or deleted.
        static let isChangeNoted = Flags(rawValue: 512)

        static let slow: Flags = [.isFault, .hasPending, .isTracked, .isDetached]
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
        if seed.isInserted {
            pending = PendingChanges(seed.runtime.newValues)
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
        managedObjectContext.identities.remove(self)
    }

    /// Called once for a new object, to set what is not a constant default.
    open func awakeFromInsert() {}

    /// Whether a class is this one or inherits from it.
    static func isInherited(by type: ManagedObject.Type) -> Bool { type is Self.Type }

    // MARK: - Parts

    /// The members of to-many relationships, by property.
    final var toMany: [Int: ToManyState] {
        get { extras?.toMany ?? [:] }
        _modify { yield &madeExtras().toMany }
        set { if extras != nil || !newValue.isEmpty { madeExtras().toMany = newValue } }
    }

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

    private final func madeExtras() -> Extras {
        if let extras { return extras }
        let made = Extras()
        extras = made
        return made
    }

    /// Works out which properties can be read at once.
    final func noteAttention() {
        if !flags.isDisjoint(with: Flags.slow.subtracting(.isTracked)) {
            attention = .max
        } else {
            attention = flags.contains(.isTracked) ? ~trail.readProperties : 0
        }
    }

    // MARK: - Identity and state

    /// The object's identity; temporary until it was saved.
    ///
    /// Does not fire a fault.
    public final var objectID: ManagedObjectID {
        ManagedObjectID(store: managedObjectContext.store.identity, entity: runtime.schema, key: key)
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
@available(*, unavailable)
extension ManagedObject: Sendable {}

/// How an object came to be here, for the trace.
struct ObjectTrail {
    /// The summary of the fetch that returned the object last, and the row there.
    var use: FetchUse?
    var row: Int32 = 0
    /// The relationship through which the object was reached and its entity's place, or -1.
    var relationship: Int16 = -1
    var relationshipEntity: Int16 = -1
    /// The fetch that produced the object, or the object from which it was reached.
    var origin: EventID = 0
    /// Which properties were read already since the fetch returned the object; those from 64 on count every time.
    var readProperties: UInt64 = 0
}
