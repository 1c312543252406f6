/// An error in a model or its file.
public struct ModelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error.
    ///
    /// More may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case duplicateName, unknownEntity, unknownInverse, inverseMismatch, inheritanceCycle, invalidProperty,
                invalidIndex, invalidName, tooLarge
            case cannotRead, notAModel, malformedFile, unknownVersion, cannotWrite
            case invalidExpression, inferredMappingModel, invalidMapping, ambiguousMapping
        }

        private let value: Value

        /// Two entities, or two properties of an entity, have the same name.
        public static let duplicateName = Code(value: .duplicateName)
        /// A name refers to an entity that the model does not have.
        public static let unknownEntity = Code(value: .unknownEntity)
        /// A relationship names an inverse that its destination does not have.
        public static let unknownInverse = Code(value: .unknownInverse)
        /// Two relationships do not name each other as their inverse.
        public static let inverseMismatch = Code(value: .inverseMismatch)
        /// An entity is its own ancestor.
        public static let inheritanceCycle = Code(value: .inheritanceCycle)
        /// A property or an entity is incomplete or contradicts itself.
        public static let invalidProperty = Code(value: .invalidProperty)
        /// An index or a uniqueness constraint names something that cannot be indexed.
        public static let invalidIndex = Code(value: .invalidIndex)
        /// A name has characters that the name of a table or column cannot have, or every object has it already.
        public static let invalidName = Code(value: .invalidName)
        /// The model exceeds a limit.
        public static let tooLarge = Code(value: .tooLarge)
        /// The file does not exist, or cannot be read.
        public static let cannotRead = Code(value: .cannotRead)
        /// The file is not a model.
        public static let notAModel = Code(value: .notAModel)
        /// The file is a damaged model.
        public static let malformedFile = Code(value: .malformedFile)
        /// The model has no such version.
        public static let unknownVersion = Code(value: .unknownVersion)
        /// The model cannot be written to a file.
        public static let cannotWrite = Code(value: .cannotWrite)

        /// An expression of a mapping model cannot be understood.
        public static let invalidExpression = Code(value: .invalidExpression)
        /// No mapping can be inferred between two models (Core Data's error 134190).
        public static let inferredMappingModel = Code(value: .inferredMappingModel)

        /// A mapping model names something that its models do not have.
        public static let invalidMapping = Code(value: .invalidMapping)
        /// Several mapping models fit the same two models.
        public static let ambiguousMapping = Code(value: .ambiguousMapping)

        /// The name.
        public var description: String { value.rawValue }
    }

    /// The kind of error.
    public var code: Code
    /// The error, its place, and what to do about it.
    public var message: String
    /// The line of the wrong declaration, if there is one: `"Groceries/Model.swift:12"`.
    public var declaredAt: String?
    /// The entity that an error in a mapping is about, or because of which no mapping can be inferred.
    public var entity: String?
    /// The property of ``entity`` that the error is about; `nil` if the entity itself is the reason.
    public var property: String?

    /// The message.
    public var description: String { message }

    init(_ code: Code, _ message: String, at declaredAt: String? = nil) {
        self.code = code
        self.message = message
        self.declaredAt = declaredAt
    }
}
