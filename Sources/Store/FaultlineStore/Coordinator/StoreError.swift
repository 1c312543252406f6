public import FaultlineModel

/// An error of a store, with the remedy in its message.
public struct StoreError: Error, Sendable, CustomStringConvertible {
    /// The kind of error.
    ///
    /// Future versions may add more.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case cannotOpen, notADatabase, readOnly, busy, full, incompatibleModel, unsupportedModel
            case unsupportedStore, conflict, validation, deleteDenied, invalidRequest, unknownEntity, invalidClass
            case objectGone, externalData, database, predicateFormat
            case missingMandatoryProperty, relationshipLacksMinimumCount, relationshipExceedsMaximumCount
            case numberTooSmall, numberTooLarge, dateTooSoon, dateTooLate, stringTooShort, stringTooLong
            case stringPatternMatching, multipleValidationErrors, constraint, transformation, invalidMetadata
            case storeRemoved, fileMoved, externalRelationship, migration, missingMappingModel
            case entityMigrationPolicy, unknownModelVersion, backwardMigration, migrationCanceled
            case historyTokenExpired
        }

        private let value: Value

        /// The file cannot be opened: its folder is missing, or access is denied.
        public static let cannotOpen = Code(value: .cannotOpen)
        /// The file is not an SQLite database.
        public static let notADatabase = Code(value: .notADatabase)
        /// The file may not be written.
        public static let readOnly = Code(value: .readOnly)
        /// Another connection held the file locked for longer than the busy timeout.
        public static let busy = Code(value: .busy)
        /// The disk is full.
        public static let full = Code(value: .full)
        /// The store was created with another model.
        public static let incompatibleModel = Code(value: .incompatibleModel)
        /// The model has a feature that stores do not support.
        public static let unsupportedModel = Code(value: .unsupportedModel)
        /// Core Data created the store with a feature that a save here would not maintain.
        public static let unsupportedStore = Code(value: .unsupportedStore)
        /// Another writer changed or deleted an object since it was read.
        public static let conflict = Code(value: .conflict)
        /// A uniqueness constraint is violated.
        public static let constraint = Code(value: .constraint)
        /// An object is invalid for a reason without a code of its own.
        public static let validation = Code(value: .validation)
        /// A mandatory attribute has no value, or a mandatory relationship has no object.
        public static let missingMandatoryProperty = Code(value: .missingMandatoryProperty)
        /// A to-many relationship has fewer objects than the model's minimum.
        public static let relationshipLacksMinimumCount = Code(value: .relationshipLacksMinimumCount)
        /// A to-many relationship has more objects than the model's maximum.
        public static let relationshipExceedsMaximumCount = Code(value: .relationshipExceedsMaximumCount)
        /// A number is less than the model's minimum.
        public static let numberTooSmall = Code(value: .numberTooSmall)
        /// A number is greater than the model's maximum.
        public static let numberTooLarge = Code(value: .numberTooLarge)
        /// A date is before the model's minimum.
        public static let dateTooSoon = Code(value: .dateTooSoon)
        /// A date is after the model's maximum.
        public static let dateTooLate = Code(value: .dateTooLate)
        /// A string has fewer characters than the model's minimum.
        public static let stringTooShort = Code(value: .stringTooShort)
        /// A string has more characters than the model's maximum.
        public static let stringTooLong = Code(value: .stringTooLong)
        /// A string does not match the model's regular expression.
        public static let stringPatternMatching = Code(value: .stringPatternMatching)
        /// There are several reasons why objects cannot be saved; see ``StoreError/detailedErrors``.
        public static let multipleValidationErrors = Code(value: .multipleValidationErrors)
        /// A delete rule forbids the deletion of an object.
        public static let deleteDenied = Code(value: .deleteDenied)
        /// A fetch request asks for something that the store cannot do.
        public static let invalidRequest = Code(value: .invalidRequest)
        /// A predicate's format cannot be parsed.
        public static let predicateFormat = Code(value: .predicateFormat)
        /// The model has no such entity.
        public static let unknownEntity = Code(value: .unknownEntity)
        /// The class of an entity does not inherit from the class of the entity's parent.
        public static let invalidClass = Code(value: .invalidClass)
        /// An object's row is no longer in the store.
        public static let objectGone = Code(value: .objectGone)
        /// A file beside the store that holds a large value cannot be read or written.
        public static let externalData = Code(value: .externalData)
        /// A transformer cannot decode the bytes of a transformable attribute.
        public static let transformation = Code(value: .transformation)
        /// A store's metadata cannot be read, or cannot represent a value.
        public static let invalidMetadata = Code(value: .invalidMetadata)
        /// The store was removed from its coordinator.
        public static let storeRemoved = Code(value: .storeRemoved)
        /// A store's file was deleted, moved or replaced while the store was open.
        public static let fileMoved = Code(value: .fileMoved)
        /// A relationship refers to an object in another store.
        public static let externalRelationship = Code(value: .externalRelationship)
        /// A store's objects do not fulfill what a migration requires (Core Data's errors 134110 and 134111).
        public static let migration = Code(value: .migration)
        /// The program cancelled a migration (Core Data's error 134120).
        public static let migrationCanceled = Code(value: .migrationCanceled)
        /// No mapping model fits a migration, and none can be inferred (Core Data's error 134140).
        public static let missingMappingModel = Code(value: .missingMappingModel)
        /// A policy of a mapping model is missing, or lacks a function (Core Data's error 134170).
        public static let entityMigrationPolicy = Code(value: .entityMigrationPolicy)
        /// The plan of a staged migration lacks a version, or has one twice (Core Data's error 134504).
        public static let unknownModelVersion = Code(value: .unknownModelVersion)
        /// A store was written by a newer version than the one that it is opened with (Core Data's error 134506).
        public static let backwardMigration = Code(value: .backwardMigration)
        /// Transactions after a position in a store's history were deleted (Core Data's error 134301).
        public static let historyTokenExpired = Code(value: .historyTokenExpired)
        /// SQLite failed in another way; see ``StoreError/sqliteCode``.
        public static let database = Code(value: .database)

        /// The name.
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

    /// Stored indirectly: almost every call can throw, so an error must be no larger than a pointer.
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

    /// The kind of error.
    public var code: Code {
        get { content.code }
        set { content.code = newValue }
    }
    /// The operation, its object, and the remedy.
    public var message: String {
        get { content.message }
        set { content.message = newValue }
    }
    /// SQLite's extended result code; 0 if the error is not SQLite's.
    public var sqliteCode: Int32 {
        get { content.sqliteCode }
        set { content.sqliteCode = newValue }
    }
    /// The object that the error concerns, if it concerns one.
    public var objectID: ManagedObjectID? {
        get { content.objectID }
        set { content.objectID = newValue }
    }
    /// The name of the property that failed validation.
    public var validationKey: String? {
        get { content.validationKey }
        set { content.validationKey = newValue }
    }
    /// The property's value, if it is an attribute.
    public var validationValue: AttributeValue? {
        get { content.validationValue }
        set { content.validationValue = newValue }
    }
    /// All errors, in the order in which they were found, if the code is ``Code/multipleValidationErrors``.
    ///
    /// Each is a ``StoreError``, or an error that an override of a validation method threw.
    public var detailedErrors: [any Error] {
        get { content.detailedErrors }
        set { content.detailedErrors = newValue }
    }
    /// The objects that another writer changed, if a save failed with ``Code/conflict``.
    public var conflicts: [MergeConflict] {
        get { content.conflicts }
        set { content.conflicts = newValue }
    }
    /// The violated uniqueness constraints, if the code is ``Code/constraint``.
    public var constraintConflicts: [ConstraintConflict] {
        get { content.constraintConflicts }
        set { content.constraintConflicts = newValue }
    }
    /// The stores that a save to several stores committed before another one failed.
    public var savedStores: [PersistentStore] {
        get { content.savedStores }
        set { content.savedStores = newValue }
    }
    /// The underlying error.
    public var cause: (any Error)? {
        get { content.cause }
        set { content.cause = newValue }
    }

    /// The message.
    public var description: String { message }

    package init(
        _ code: Code, _ message: String, sqliteCode: Int32 = 0, objectID: ManagedObjectID? = nil,
        cause: (any Error)? = nil
    ) {
        storage = .content(
            Content(code: code, message: message, sqliteCode: sqliteCode, objectID: objectID, cause: cause))
    }
}
