/// The settings of
/// ``Relationship(deleteRule:inverse:isOptional:minimumCount:maximumCount:renamingIdentifier:versionHashModifier:userInfo:)``.
public struct RelationshipSettings: Sendable {
    /// The inverse of a relationship.
    public enum Inverse: Sendable, Hashable {
        /// The relationship that names this one as its inverse or, if there is none, the only candidate.
        case inferred
        /// The relationship with a name.
        case named(String)
        /// No inverse.
        case nothing
    }

    let inverse: Inverse
    private let deleteRule: DeleteRule
    private let isOptional: Bool
    private let minimumCount: Int
    private let maximumCount: Int
    private let renamingIdentifier: String?
    private let versionHashModifier: String?
    private let userInfo: [String: String]

    /// Creates settings from the macro's arguments.
    public init(
        deleteRule: DeleteRule = .nullify, inverse: Inverse = .inferred, isOptional: Bool = true,
        minimumCount: Int = 0, maximumCount: Int = 0, renamingIdentifier: String? = nil,
        versionHashModifier: String? = nil, userInfo: [String: String] = [:]
    ) {
        self.deleteRule = deleteRule
        self.inverse = inverse
        self.isOptional = isOptional
        self.minimumCount = minimumCount
        self.maximumCount = maximumCount
        self.renamingIdentifier = renamingIdentifier
        self.versionHashModifier = versionHashModifier
        self.userInfo = userInfo
    }

    /// Applies the settings that the relationship's key does not determine.
    func apply(to description: inout RelationshipDescription) {
        if case .named(let name) = inverse { description.inverse = name }
        description.deleteRule = deleteRule
        description.isOptional = isOptional
        description.minimumCount = minimumCount
        description.maximumCount = maximumCount
        description.renamingIdentifier = renamingIdentifier
        description.versionHashModifier = versionHashModifier
        description.userInfo = userInfo
    }
}
