public import FaultlineModel

/// What went wrong in a store, and what to do about it.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    ///
    /// More may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case cannotOpen, notADatabase, readOnly, busy, full, incompatibleModel, unsupportedModel
            case unsupportedStore, conflict, validation, deleteDenied, invalidRequest, unknownEntity, invalidClass
            case objectGone, externalData, database, predicateFormat
            case missingMandatoryProperty, relationshipLacksMinimumCount, relationshipExceedsMaximumCount
            case numberTooSmall, numberTooLarge, dateTooSoon, dateTooLate, stringTooShort, stringTooLong
            case stringPatternMatching, multipleValidationErrors, constraint, transformation, invalidMetadata
            case storeRemoved, externalRelationship
        }

        private let value: Value

        /// The file cannot be opened: its folder is missing, or it may not be read.
        public static let cannotOpen = Code(value: .cannotOpen)
        /// The file is no SQLite database.
        public static let notADatabase = Code(value: .notADatabase)
        /// The file may not be written.
        public static let readOnly = Code(value: .readOnly)
        /// Another connection held the file locked for longer than the busy timeout.
        public static let busy = Code(value: .busy)
        /// The disk is full.
        public static let full = Code(value: .full)
        /// The store was made with another model.
        public static let incompatibleModel = Code(value: .incompatibleModel)
        /// The model has something that a store cannot keep.
        public static let unsupportedModel = Code(value: .unsupportedModel)
        /// Core Data made the store with something that a save here would not keep up.
        public static let unsupportedStore = Code(value: .unsupportedStore)
        /// Another writer changed or deleted an object since it was read.
        public static let conflict = Code(value: .conflict)
        /// Values that must be unique are not.
        public static let constraint = Code(value: .constraint)
        /// An object cannot be saved as it is, for a reason that has no code of its own.
        public static let validation = Code(value: .validation)
        /// A property that is not optional has no value, or a relationship that is not optional no object.
        public static let missingMandatoryProperty = Code(value: .missingMandatoryProperty)
        /// A to-many relationship has fewer objects than the model's minimum.
        public static let relationshipLacksMinimumCount = Code(value: .relationshipLacksMinimumCount)
        /// A to-many relationship has more objects than the model's maximum.
        public static let relationshipExceedsMaximumCount = Code(value: .relationshipExceedsMaximumCount)
        /// A number is less than the model's minimum.
        public static let numberTooSmall = Code(value: .numberTooSmall)
        /// A number is more than the model's maximum.
        public static let numberTooLarge = Code(value: .numberTooLarge)
        /// A date is before the model's minimum.
        public static let dateTooSoon = Code(value: .dateTooSoon)
        /// A date is after the model's maximum.
        public static let dateTooLate = Code(value: .dateTooLate)
        /// A text has fewer characters than the model's minimum.
        public static let stringTooShort = Code(value: .stringTooShort)
        /// A text has more characters than the model's maximum.
        public static let stringTooLong = Code(value: .stringTooLong)
        /// A text does not match the model's regular expression.
        public static let stringPatternMatching = Code(value: .stringPatternMatching)
        /// There are several reasons why objects cannot be saved; see ``StoreError/detailedErrors``.
        public static let multipleValidationErrors = Code(value: .multipleValidationErrors)
        /// A delete rule forbids the deletion of an object.
        public static let deleteDenied = Code(value: .deleteDenied)
        /// A fetch request asks for what the store cannot do.
        public static let invalidRequest = Code(value: .invalidRequest)
        /// A predicate's format cannot be read.
        public static let predicateFormat = Code(value: .predicateFormat)
        /// The model has no such entity.
        public static let unknownEntity = Code(value: .unknownEntity)
        /// A class of objects does not go with those of its entity's parents.
        public static let invalidClass = Code(value: .invalidClass)
        /// An object's row is not in the store any more.
        public static let objectGone = Code(value: .objectGone)
        /// A file beside the store that holds a large value cannot be read or written.
        public static let externalData = Code(value: .externalData)
        /// The bytes of a transformable attribute are none that its transformer can read.
        public static let transformation = Code(value: .transformation)
        /// A store's metadata cannot hold a value.
        public static let invalidMetadata = Code(value: .invalidMetadata)
        /// The store was removed from its coordinator.
        public static let storeRemoved = Code(value: .storeRemoved)
        /// A relationship leads from one store to another.
        public static let externalRelationship = Code(value: .externalRelationship)
        /// SQLite failed in another way; see ``StoreError/sqliteCode``.
        public static let database = Code(value: .database)

        public var description: String { value.rawValue }
    }

    private struct Content {
        var code: Code
        var message: String
        var sqliteCode: Int32
        var objectID: ManagedObjectID?
        var validationKey: String?
        var validationValue: AttributeValue?
        var detailedErrors: [any Error] = []
        var conflicts: [MergeConflict] = []
        var constraintConflicts: [ConstraintConflict] = []
        var savedStores: [PersistentStore] = []
        var cause: (any Error)?
    }

    /// What there is to say lies elsewhere: a failure that did not happen is to be no larger than a pointer, since every
    /// call on the way of a fault can give one.
    private indirect enum Storage {
        case content(Content)
    }

    private var storage: Storage

    private var content: Content {
        get {
            switch storage {
            case .content(let content): content
            }
        }
        set { storage = .content(newValue) }
    }

    public var code: Code {
        get { content.code }
        set { content.code = newValue }
    }
    /// What was being done, on what, and what to do about it.
    public var message: String {
        get { content.message }
        set { content.message = newValue }
    }
    /// SQLite's extended result code; 0: the failure is not SQLite's.
    public var sqliteCode: Int32 {
        get { content.sqliteCode }
        set { content.sqliteCode = newValue }
    }
    /// The object that the failure is about, if it is about one.
    public var objectID: ManagedObjectID? {
        get { content.objectID }
        set { content.objectID = newValue }
    }
    /// The name of the property that cannot be saved as it is.
    public var validationKey: String? {
        get { content.validationKey }
        set { content.validationKey = newValue }
    }
    /// The value that it has, if it is an attribute's.
    public var validationValue: AttributeValue? {
        get { content.validationValue }
        set { content.validationValue = newValue }
    }
    /// With the code ``Code/multipleValidationErrors``: all of them, in the order in which they were found.
    ///
    /// A ``StoreError``, or what a class that overrides a validation method has thrown.
    public var detailedErrors: [any Error] {
        get { content.detailedErrors }
        set { content.detailedErrors = newValue }
    }
    /// The objects that somebody else has changed, of an error with ``Code/conflict`` of a save.
    public var conflicts: [MergeConflict] {
        get { content.conflicts }
        set { content.conflicts = newValue }
    }
    /// The values that are not unique, of an error with ``Code/constraint``.
    public var constraintConflicts: [ConstraintConflict] {
        get { content.constraintConflicts }
        set { content.constraintConflicts = newValue }
    }
    /// Of a save to several stores: those that were saved before another could not be.
    public var savedStores: [PersistentStore] {
        get { content.savedStores }
        set { content.savedStores = newValue }
    }
    /// The error underneath.
    public var cause: (any Error)? {
        get { content.cause }
        set { content.cause = newValue }
    }

    public var description: String { message }

    package init(
        _ code: Code, _ message: String, sqliteCode: Int32 = 0, objectID: ManagedObjectID? = nil,
        cause: (any Error)? = nil
    ) {
        storage = .content(
            Content(code: code, message: message, sqliteCode: sqliteCode, objectID: objectID, cause: cause))
    }
}
