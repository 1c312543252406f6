/// A property of an entity that holds a value.
public struct AttributeDescription: Sendable, Hashable {
    public var name: String
    public var type: AttributeType
    /// Whether an object can be saved without a value.
    public var isOptional: Bool
    /// Whether the value lives in memory only and is never stored.
    public var isTransient: Bool
    /// What a new object holds.
    public var defaultValue: AttributeValue?
    /// Whether large values are kept in files beside the store (``AttributeType/binary`` and
    /// ``AttributeType/transformable`` only).
    public var allowsExternalBinaryDataStorage: Bool
    /// Where the attribute is declared: `"Groceries/Model.swift:12"`.
    ///
    /// A report names it as the line to change.
    public var declaredAt: String

    /// An attribute; optional, stored and without a default unless said otherwise.
    public init(
        _ name: String, _ type: AttributeType, isOptional: Bool = true, isTransient: Bool = false,
        defaultValue: AttributeValue? = nil, allowsExternalBinaryDataStorage: Bool = false,
        fileID: StaticString = #fileID, line: UInt = #line
    ) {
        self.name = name
        self.type = type
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.defaultValue = defaultValue
        self.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        declaredAt = "\(fileID):\(line)"
    }
}
