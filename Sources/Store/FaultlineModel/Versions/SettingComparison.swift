/// The comparison of one setting of an entity or property between two versions.
struct SettingComparison<Description: Sendable>: Sendable {
    let setting: ModelDifference.Setting
    /// Whether a store must be migrated if the setting changes.
    let requiresMigration: Bool
    /// The setting's value as a text.
    let text: @Sendable (Description) -> String

    init(
        _ setting: ModelDifference.Setting, requiresMigration: Bool, _ text: @escaping @Sendable (Description) -> String
    ) {
        self.setting = setting
        self.requiresMigration = requiresMigration
        self.text = text
    }

    func difference(_ old: Description, _ new: Description) -> (
        change: ModelDifference.Change, requiresMigration: Bool
    )? {
        let (before, after) = (text(old), text(new))
        guard before != after else { return nil }
        return (.changed(setting, from: before, to: after), requiresMigration)
    }
}

extension SettingComparison where Description == AttributeDescription {
    static let all: [Self] = [
        .init(.type, requiresMigration: true) { $0.typeWords },
        .init(.optional, requiresMigration: true) { word($0.isOptional) },
        .init(.transient, requiresMigration: true) { word($0.isTransient) },
        .init(.defaultValue, requiresMigration: false) { word($0.defaultValue?.description) },
        .init(.derivation, requiresMigration: true) { word($0.derivationExpression) },
        .init(.externalStorage, requiresMigration: true) { word($0.allowsExternalBinaryDataStorage) },
        .init(.validation, requiresMigration: false) { attribute in
            let parts = [
                attribute.minimumValue.map { "at least \($0)" }, attribute.maximumValue.map { "at most \($0)" },
                attribute.regularExpression.map { "matches '\($0)'" },
            ].compactMap { $0 }
            return parts.isEmpty ? "none" : parts.joined(separator: " and ")
        },
        .init(.transformer, requiresMigration: false) { word($0.valueTransformerName) },
        .init(.className, requiresMigration: false) { word($0.attributeValueClassName) },
        .init(.versionHashModifier, requiresMigration: true) { word($0.versionHashModifier) },
        .init(.renamingIdentifier, requiresMigration: false) { word($0.renamingIdentifier) },
        .init(.userInfo, requiresMigration: false) { list($0.userInfo) },
    ]
}

extension SettingComparison where Description == RelationshipDescription {
    static let all: [Self] = [
        .init(.optional, requiresMigration: true) { word($0.isOptional) },
        .init(.transient, requiresMigration: true) { word($0.isTransient) },
        .init(.toMany, requiresMigration: true) { word($0.isToMany) },
        .init(.ordered, requiresMigration: true) { word($0.isOrdered) },
        .init(.minimumCount, requiresMigration: true) { String($0.minimumCount) },
        .init(.maximumCount, requiresMigration: true) { $0.maximumCount == 0 ? "none" : String($0.maximumCount) },
        .init(.deleteRule, requiresMigration: false) { $0.deleteRule.rawValue },
        .init(.versionHashModifier, requiresMigration: true) { word($0.versionHashModifier) },
        .init(.renamingIdentifier, requiresMigration: false) { word($0.renamingIdentifier) },
        .init(.userInfo, requiresMigration: false) { list($0.userInfo) },
    ]
}

extension SettingComparison where Description == EntityDescription {
    static let all: [Self] = [
        .init(.abstract, requiresMigration: true) { word($0.isAbstract) },
        .init(.uniquenessConstraints, requiresMigration: true) { entity in
            let constraints = entity.uniquenessConstraints.map { $0.joined(separator: " and ") }.sorted()
            return constraints.isEmpty ? "none" : constraints.joined(separator: ", ")
        },
        .init(.className, requiresMigration: false) { word($0.managedObjectClassName) },
        .init(.versionHashModifier, requiresMigration: true) { word($0.versionHashModifier) },
        .init(.renamingIdentifier, requiresMigration: false) { word($0.renamingIdentifier) },
        .init(.userInfo, requiresMigration: false) { list($0.userInfo) },
    ]
}

extension SettingComparison where Description == FetchIndexDescription {
    static let all: [Self] = [
        .init(.elements, requiresMigration: false) { index in
            index.elements.map { element in
                let name = element.expression ?? element.property
                return
                    "\(name)\(element.isAscending ? "" : " descending")\(element.kind == .rTree ? " in an R-tree" : "")"
            }.joined(separator: ", ")
        }
    ]
}

extension SettingComparison {
    private static func word(_ isSet: Bool) -> String { isSet ? "yes" : "no" }

    private static func word(_ text: String?) -> String { text ?? "none" }

    private static func list(_ entries: [String: String]) -> String {
        entries.isEmpty ? "none" : entries.sorted { $0.key < $1.key }.map { "\($0): \($1)" }.joined(separator: ", ")
    }
}
