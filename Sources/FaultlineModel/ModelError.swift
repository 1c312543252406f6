/// What is wrong with a model or its file.
public struct ModelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of mistake.
    ///
    /// More may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case duplicateName, unknownEntity, unknownInverse, inverseMismatch, inheritanceCycle, invalidProperty,
                invalidIndex, invalidName, tooLarge
            case cannotRead, notAModel, malformedFile, unknownVersion, cannotWrite
        }

        private let value: Value

        public static let duplicateName = Code(value: .duplicateName)
        public static let unknownEntity = Code(value: .unknownEntity)
        public static let unknownInverse = Code(value: .unknownInverse)
        public static let inverseMismatch = Code(value: .inverseMismatch)
        public static let inheritanceCycle = Code(value: .inheritanceCycle)
        public static let invalidProperty = Code(value: .invalidProperty)
        /// An index or a uniqueness constraint is over something that cannot be indexed.
        public static let invalidIndex = Code(value: .invalidIndex)
        /// A name has characters that a table or column cannot be named with.
        public static let invalidName = Code(value: .invalidName)
        /// There is more of something than a model can have.
        public static let tooLarge = Code(value: .tooLarge)
        /// The file is not there, or may not be read.
        public static let cannotRead = Code(value: .cannotRead)
        /// The file is something else.
        public static let notAModel = Code(value: .notAModel)
        /// The file is a model's, but broken.
        public static let malformedFile = Code(value: .malformedFile)
        /// The model has no such version.
        public static let unknownVersion = Code(value: .unknownVersion)
        /// The model cannot be written to a file.
        public static let cannotWrite = Code(value: .cannotWrite)

        public var description: String { value.rawValue }
    }

    public var code: Code
    /// What is wrong, where, and what to do about it.
    public var message: String
    /// The declaration that is wrong, if it is one: `"Groceries/Model.swift:12"`.
    public var declaredAt: String?

    public var description: String { message }

    init(_ code: Code, _ message: String, at declaredAt: String? = nil) {
        self.code = code
        self.message = message
        self.declaredAt = declaredAt
    }
}
