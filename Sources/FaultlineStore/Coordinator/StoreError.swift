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
        /// An object cannot be saved as it is.
        public static let validation = Code(value: .validation)
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
        /// SQLite failed in another way; see ``StoreError/sqliteCode``.
        public static let database = Code(value: .database)

        public var description: String { value.rawValue }
    }

    public var code: Code
    /// What was being done, on what, and what to do about it.
    public var message: String
    /// SQLite's extended result code; 0: the failure is not SQLite's.
    public var sqliteCode: Int32
    /// The object that the failure is about, if it is about one.
    public var objectID: ManagedObjectID?
    /// The error underneath.
    public var cause: (any Error)?

    public var description: String { message }

    package init(
        _ code: Code, _ message: String, sqliteCode: Int32 = 0, objectID: ManagedObjectID? = nil,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.sqliteCode = sqliteCode
        self.objectID = objectID
        self.cause = cause
    }
}
