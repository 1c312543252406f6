/// What is wrong with a model.
public struct ModelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of mistake.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case duplicateName, unknownEntity, unknownInverse, inverseMismatch, inheritanceCycle, invalidProperty,
                invalidIndex
        }

        private let value: Value

        public static let duplicateName = Code(value: .duplicateName)
        public static let unknownEntity = Code(value: .unknownEntity)
        public static let unknownInverse = Code(value: .unknownInverse)
        public static let inverseMismatch = Code(value: .inverseMismatch)
        public static let inheritanceCycle = Code(value: .inheritanceCycle)
        public static let invalidProperty = Code(value: .invalidProperty)
        public static let invalidIndex = Code(value: .invalidIndex)

        public var description: String { value.rawValue }
    }

    public var code: Code
    /// What is wrong, where, and what to do about it.
    public var message: String

    public var description: String { message }

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
