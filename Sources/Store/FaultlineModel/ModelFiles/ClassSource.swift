/// The Swift source of the classes for a model's entities, in the form that programs with a model file write by hand.
///
/// Each class has a key for each property (`AttributeKey`, `ToOneKey`, `ToManyKey`, `OrderedToManyKey`) and a variable
/// that uses it. The text depends on the model alone, so that it changes only when the model does.
package struct ClassSource {
    private let model: ManagedObjectModel
    private let name: String
    /// By entity.
    private let classNames: [String: String]
    private let parents: Set<String>

    /// - Parameter name: The name of the model, for the first line.
    package init(_ model: ManagedObjectModel, name: String) {
        self.model = model
        self.name = name
        var taken: [String: Int] = [:]
        let wanted = model.entities.map { entity in (entity.name, Self.className(entity)) }
        for (_, name) in wanted { taken[name, default: 0] += 1 }
        // Several entities can share a class in Core Data; here each has its own.
        classNames = Dictionary(uniqueKeysWithValues: wanted.map { ($0, taken[$1] == 1 ? $1 : $0) })
        parents = Set(model.entities.compactMap(\.parent))
    }

    /// The name of an entity's class: the model's, without the module, or else the entity's.
    private static func className(_ entity: EntityDescription) -> String {
        let given = entity.managedObjectClassName?.split(separator: ".").last.map(String.init) ?? ""
        let isOwn = ModelCheck.isName(given) && !["NSManagedObject", "ManagedObject"].contains(given)
        return isOwn ? given : entity.name
    }

    /// The source, with a line feed at its end.
    package var text: String {
        let entities = model.entities.sorted { $0.name < $1.name }
        let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) }
        let title = String(name.unicodeScalars.map { isControl($0) ? " " : Character($0) })
        var lines = [
            "// The classes of the model \(title), written by \"faultline model show --format swift\".", "",
            "import FaultlineStore", "import Foundation", "",
        ]
        for entity in entities { lines += self.lines(entity) + [""] }
        lines += ["/// The classes, for the `classes` of a `PersistentContainer`.", "enum ModelClasses {"]
        if entities.isEmpty {
            lines.append("    static let all: [ManagedObject.Type] = []")
        } else {
            lines.append("    static let all: [ManagedObject.Type] = [")
            for entity in entities { lines.append("        \(identifier(classNames[entity.name]!)).self,") }
            lines.append("    ]")
        }
        lines += ["}", ""]
        return lines.joined(separator: "\n")
    }

    private func lines(_ entity: EntityDescription) -> [String] {
        let own = classNames[entity.name]!
        let parent = entity.parent.map { identifier(classNames[$0]!) } ?? "ManagedObject"
        let kind = parents.contains(entity.name) ? "class" : "final class"
        var keys: [String] = []
        var variables: [String] = []
        for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
            guard let type = type(attribute) else {
                keys.append(
                    "    // \(attribute.name): \(attribute.type.rawValue), read with self[\"\(attribute.name)\"].")
                continue
            }
            let name = memberName(attribute.name, entity)
            let value = attribute.isOptional ? type + "?" : type
            keys.append("    static let \(name) = AttributeKey<\(value)>(\"\(attribute.name)\")")
            variables += variable(name, value, isSettable: attribute.derivationExpression == nil, entity)
        }
        for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) {
            let name = memberName(relationship.name, entity)
            let destination = identifier(classNames[relationship.destination]!)
            let (key, value) =
                !relationship.isToMany
                ? ("ToOneKey", destination + "?")
                : relationship.isOrdered
                    ? ("OrderedToManyKey", "OrderedToMany<\(destination)>") : ("ToManyKey", "ToMany<\(destination)>")
            keys.append("    static let \(name) = \(key)<\(destination)>(\"\(relationship.name)\")")
            variables += variable(name, value, isSettable: !relationship.isToMany, entity)
        }
        let rename = own == entity.name ? [] : ["    override class var entityName: String { \"\(entity.name)\" }"]
        let parts = [rename, keys, variables].filter { !$0.isEmpty }
        guard !parts.isEmpty else { return ["\(kind) \(identifier(own)): \(parent) {}"] }
        return ["\(kind) \(identifier(own)): \(parent) {"] + parts.joined(separator: [""]) + ["}"]
    }

    private func variable(_ name: String, _ type: String, isSettable: Bool, _ entity: EntityDescription) -> [String] {
        let modifier = parents.contains(entity.name) ? "final var" : "var"
        guard isSettable else { return ["    \(modifier) \(name): \(type) { self[Self.\(name)] }"] }
        return [
            "    \(modifier) \(name): \(type) {", "        get { self[Self.\(name)] }",
            "        set { self[Self.\(name)] = newValue }", "    }",
        ]
    }

    // MARK: - Types and names

    /// The type of an attribute's values; `nil` if none has a key.
    private func type(_ attribute: AttributeDescription) -> String? {
        let (module, type): (String, String)
        switch attribute.type {
        case .integer16: (module, type) = ("Swift", "Int16")
        case .integer32: (module, type) = ("Swift", "Int32")
        case .integer64: (module, type) = ("Swift", "Int64")
        case .double: (module, type) = ("Swift", "Double")
        case .float: (module, type) = ("Swift", "Float")
        case .string: (module, type) = ("Swift", "String")
        case .boolean: (module, type) = ("Swift", "Bool")
        case .decimal: (module, type) = ("Foundation", "Decimal")
        case .date: (module, type) = ("Foundation", "Date")
        // The bytes of a transformable attribute; a `TransformableValue` can take their place.
        case .binary, .transformable: (module, type) = ("Foundation", "Data")
        case .uuid: (module, type) = ("Foundation", "UUID")
        case .uri: (module, type) = ("Foundation", "URL")
        case .undefined, .composite: return nil
        }
        return classNames.values.contains(type) ? "\(module).\(type)" : type
    }

    /// The name of a property's key and variable: another one if every object has it already.
    private func memberName(_ name: String, _ entity: EntityDescription) -> String {
        let isTaken = ReservedNames.contains(name) || Self.members.contains(name)
        return identifier(
            isTaken ? ReservedProperty(entity: entity.name, name: name, declaredAt: "").otherName : name)
    }

    /// The members of every object that Core Data does not have, and names that Swift keeps for itself.
    private static let members: Set<String> = [
        "entityName", "isInaccessible", "fulfill", "value", "setValue", "Type", "Protocol", "Self", "init", "self",
    ]

    private func identifier(_ name: String) -> String { Self.keywords.contains(name) ? "`\(name)`" : name }

    private static let keywords: Set<String> = [
        "Any", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit",
        "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
        "import", "in", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol",
        "public", "repeat", "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw",
        "throws", "true", "try", "typealias", "var", "where", "while",
    ]
}
