/// What ``Relationship(deleteRule:inverse:isOptional:minimumCount:maximumCount:renamingIdentifier:versionHashModifier:userInfo:)``
/// says of a relationship.
public struct RelationshipSettings: Sendable {
    /// Which relationship leads back.
    public enum Inverse: Sendable, Hashable {
        /// The one that names this one as its inverse or, if none does, the only one that can be meant.
        case inferred
        /// The one of that name.
        case named(String)
        /// None.
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

    /// Settings with the parameters of the macro.
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

    /// Sets what does not follow from the relationship's key.
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
