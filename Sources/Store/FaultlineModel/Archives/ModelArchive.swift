internal import Foundation

/// Reads a model from the keyed archive of an `NSManagedObjectModel`: a compiled model, or the copy that Core Data keeps in each store.
///
/// Validation rules, fetched properties, fetch requests and user info stay unread, because a store does not depend on them.
/// Whether large values are in files of their own is not known from any archive, and stays unset.
struct ModelArchive {
    private typealias Object = KeyedArchive.Object

    /// What the archive says of the model.
    struct Contents {
        var entities: [EntityDescription] = []
        var versionIdentifiers: [String] = []
        var configurations: [ConfigurationDescription] = []
    }

    private let archive: KeyedArchive

    /// - Throws: ``ArchiveFailure`` if it is not the archive of a model, or has something that models cannot have here.
    static func contents(_ data: Data) throws(ArchiveFailure) -> Contents {
        guard PropertyListValue.isBinary(data) else { throw ArchiveFailure("is not a binary property list") }
        return try contents(try KeyedArchive(data, limit: PropertyListValue.Limit.model))
    }

    static func contents(_ archive: KeyedArchive) throws(ArchiveFailure) -> Contents {
        try Self(archive: archive).contents(archive.object(archive.root))
    }

    private func contents(_ object: Object) throws(ArchiveFailure) -> Contents {
        guard try archive.className(object) == "NSManagedObjectModel" else { throw ArchiveFailure("is not a model") }
        var entities: [EntityDescription] = []
        var names: Set<String> = []
        for (name, entity) in try members(object["NSEntities"], named: "NSEntityName") where names.insert(name).inserted
        {
            entities.append(try self.entity(entity))
        }
        var configurations: [ConfigurationDescription] = []
        if let named = try archive.value("NSConfigurations", of: object) {
            for (name, members) in try archive.dictionary(named) {
                var names: [String] = []
                for member in try archive.list(members) { names.append(try self.name(of: archive.object(member))) }
                configurations.append(ConfigurationDescription(name, entities: names.sorted()))
            }
        }
        var identifiers: [String] = []
        if let list = try archive.value("NSVersionIdentifiers", of: object) {
            for identifier in try archive.list(list) { identifiers.append(try archive.string(identifier)) }
        }
        return Contents(
            entities: Self.consistent(entities.sorted { $0.name < $1.name }), versionIdentifiers: identifiers.sorted(),
            configurations: configurations.sorted { $0.name < $1.name })
    }

    /// Removes inverses that do not point back, and indexes and constraints on properties that are not stored.
    ///
    /// Core Data only warns of these.
    private static func consistent(_ given: [EntityDescription]) -> [EntityDescription] {
        let byName = Dictionary(given.map { ($0.name, $0) }) { first, _ in first }
        return given.map { entity in
            var (entity, stored): (EntityDescription, Set<String>) = (entity, [])
            var (owner, depth) = (Optional(entity), 0)
            while let next = owner, depth <= ModelCheck.Limit.depth {
                stored.formUnion(next.attributes.filter { !$0.isTransient && !$0.isDivided }.map(\.name))
                stored.formUnion(next.relationships.filter(\.hasColumn).map(\.name))
                owner = next.parent.flatMap { byName[$0] }
                depth += 1
            }
            for index in entity.relationships.indices {
                let relationship = entity.relationships[index]
                let inverse = byName[relationship.destination]?.relationships.first { $0.name == relationship.inverse }
                if inverse?.inverse != relationship.name || inverse?.destination != entity.name {
                    entity.relationships[index].inverse = nil
                }
            }
            entity.indexes.removeAll { $0.elements.contains { !stored.contains($0.property) } }
            entity.uniquenessConstraints.removeAll { !stored.isSuperset(of: $0) }
            return entity
        }
    }

    private func name(of entity: Object) throws(ArchiveFailure) -> String {
        try archive.string(entity["NSEntityName"])
    }

    // MARK: - Entities

    private func entity(_ object: Object) throws(ArchiveFailure) -> EntityDescription {
        var entity = EntityDescription(try name(of: object))
        let parent = try archive.value("NSSuperentity", of: object)?.dictionary
        entity.parent = try parent.map { parent throws(ArchiveFailure) in try name(of: parent) }
        entity.isAbstract = try flag("NSIsAbstract", of: object)
        let className = try text("NSClassNameForEntity", of: object)
        entity.managedObjectClassName = className == "NSManagedObject" ? nil : className
        entity.renamingIdentifier = try renamingIdentifier(object, entity.name)
        entity.versionHashModifier = try text("NSVersionHashModifier", of: object)
        // An entity has copies of its parent's properties.
        var inherited: Set<String> = []
        if let parent { inherited.formUnion(try properties(of: parent).map(\.name)) }
        let own = try properties(of: object).filter { !inherited.contains($0.name) }
        for (name, property) in own.sorted(by: { $0.name < $1.name }) {
            switch try archive.className(property) {
            case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
                entity.attributes.append(try attribute(property, name))
            case "NSRelationshipDescription": entity.relationships.append(try relationship(property, name))
            case "NSFetchedPropertyDescription": break
            case let other: throw ArchiveFailure("has a property of the class '\(other)', which is not supported")
            }
        }
        entity.uniquenessConstraints = try lists("NSUniqueTuples", of: object)
        if let parent {
            let inherited = try lists("NSUniqueTuples", of: parent)
            entity.uniquenessConstraints.removeAll { inherited.contains($0) }
        }
        try addIndexes(object, to: &entity)
        return entity
    }

    private func properties(of entity: Object) throws(ArchiveFailure) -> [(name: String, object: Object)] {
        try members(entity["NSProperties"], named: "NSPropertyName")
    }

    /// The objects in a dictionary by name; it can be one with fixed keys, whose empty slots are strings.
    private func members(
        _ value: PropertyListValue?, named key: String
    ) throws(ArchiveFailure) -> [(name: String, object: Object)] {
        guard let slots = try archive.object(value)["values"] else {
            return try archive.dictionary(value).map { key, value throws(ArchiveFailure) in
                (key, try archive.object(value))
            }
        }
        var members: [(String, Object)] = []
        for slot in try archive.list(slots) {
            guard let object = try archive.resolve(slot).dictionary else { continue }
            members.append((try archive.string(object[key]), object))
        }
        return members
    }

    /// Adds the fetch indexes, or else the compound indexes of older models.
    private func addIndexes(_ object: Object, to entity: inout EntityDescription) throws(ArchiveFailure) {
        guard let indexes = try archive.value("NSFetchIndexDescriptions", of: object) else {
            entity.compoundIndexes = try lists("NSCompoundIndexes", of: object)
            return
        }
        for value in try archive.list(indexes) {
            let object = try archive.object(value)
            var index = FetchIndexDescription(try archive.string(object["NSIndexName"]), elements: [])
            for value in try archive.list(object["NSIndexElements"]) {
                let element = try archive.object(value)
                guard let property = try text("NSPropertyName", of: element) else { continue }
                index.elements.append(
                    .init(
                        property, isAscending: try flag("NSAscending", of: element),
                        kind: try number("NSFetchIndexElementType", of: element) == 0 ? .binary : .rTree))
            }
            // Core Data adds an index of this name for an attribute that is marked as indexed.
            let isMarked = entity.attributes.contains { $0.isIndexed && $0.name == index.name }
            if !isMarked, !index.elements.isEmpty { entity.indexes.append(index) }
        }
    }

    // MARK: - Properties

    private func attribute(
        _ object: Object, _ name: String, depth: Int = 0
    ) throws(ArchiveFailure) -> AttributeDescription {
        let code = try number("NSAttributeType", of: object)
        let isTransient = try flag("NSIsTransient", of: object)
        guard let type = AttributeType(coreDataCode: code) ?? (isTransient ? .undefined : nil) else {
            throw ArchiveFailure("has the attribute '\(name)' of the type \(code), which is not supported")
        }
        var attribute = AttributeDescription(name, type)
        attribute.isOptional = try flag("NSIsOptional", of: object)
        attribute.isTransient = isTransient
        attribute.isIndexed = try flag("NSIsIndexed", of: object)
        attribute.preservesValueInHistoryOnDeletion = try number("NSFlagsKey", of: object) & 16 != 0
        attribute.versionHashModifier = try text("NSVersionHashModifier", of: object)
        attribute.renamingIdentifier = try renamingIdentifier(object, name)
        if type == .transformable {
            attribute.valueTransformerName = try text("NSValueTransformerName", of: object)
            attribute.attributeValueClassName = try text("NSAttributeValueClassName", of: object)
        }
        if type == .composite, depth < ModelCheck.Limit.compositeDepth {
            attribute.elements = try elements(object, depth: depth + 1)
        }
        if let value = try archive.value("NSDefaultValue", of: object) {
            attribute.defaultValue = try defaultValue(value, type)
        }
        if let expression = try archive.value("NSDerivationExpression", of: object)?.dictionary {
            attribute.derivationExpression = try derivation(expression, name)
        }
        return attribute
    }

    /// The attributes that a composite one consists of: the only list of attributes that it has.
    private func elements(_ object: Object, depth: Int) throws(ArchiveFailure) -> [AttributeDescription] {
        for key in object.keys.sorted() where key != "$class" {
            guard let list = try archive.value(key, of: object)?.dictionary?["NS.objects"]?.array else { continue }
            try archive.count(list.count)
            var found: [AttributeDescription] = []
            for value in list {
                guard let element = try archive.resolve(value).dictionary, element["NSAttributeType"] != nil,
                    let name = try text("NSPropertyName", of: element)
                else { break }
                found.append(try attribute(element, name, depth: depth))
            }
            if !found.isEmpty, found.count == list.count { return found }
        }
        return []
    }

    private func relationship(_ object: Object, _ name: String) throws(ArchiveFailure) -> RelationshipDescription {
        let rules: [Int64: DeleteRule] = [0: .noAction, 1: .nullify, 2: .cascade, 3: .deny]
        let maximum = try number("NSMaxCount", of: object)
        var relationship = RelationshipDescription(
            name, to: try archive.string(object["_NSDestinationEntityName"]),
            inverse: try text("_NSInverseRelationshipName", of: object), isToMany: maximum != 1)
        // A to-one relationship has the counts 0 or 1, and 1.
        if relationship.isToMany {
            relationship.maximumCount = max(0, Int(clamping: maximum))
            relationship.minimumCount = max(0, Int(clamping: try number("NSMinCount", of: object)))
        }
        relationship.isOrdered = try flag("NSIsOrdered", of: object)
        relationship.isOptional = try flag("NSIsOptional", of: object)
        relationship.isTransient = try flag("NSIsTransient", of: object)
        relationship.deleteRule = rules[try number("NSDeleteRule", of: object)] ?? .nullify
        relationship.versionHashModifier = try text("NSVersionHashModifier", of: object)
        relationship.renamingIdentifier = try renamingIdentifier(object, name)
        return relationship
    }

    /// Archives always have an identifier, which is the element's own name unless the model sets one.
    private func renamingIdentifier(_ object: Object, _ name: String) throws(ArchiveFailure) -> String? {
        let identifier = try text("NSRenamingIdentifier", of: object)
        return identifier == name ? nil : identifier
    }

    /// Returns a default value, or `nil` if it is an object other than a date.
    private func defaultValue(
        _ value: PropertyListValue, _ type: AttributeType
    ) throws(ArchiveFailure) -> AttributeValue? {
        let found: AttributeValue? =
            switch (value, type) {
            case (.integer(let number), .boolean): .boolean(number != 0)
            case (.boolean(let isTrue), .integer16), (.boolean(let isTrue), .integer32),
                (.boolean(let isTrue), .integer64):
                .integer(isTrue ? 1 : 0)
            case (.integer(let number), .double), (.integer(let number), .float): .double(Double(number))
            case (.integer(let number), .decimal): .decimal(Decimal(number))
            case (.boolean(let isTrue), _): .boolean(isTrue)
            case (.integer(let number), _): .integer(number)
            case (.real(let number), _): .double(number)
            case (.string(let text), _): .string(text)
            case (.dictionary(let object), .date):
                if case .real(let seconds)? = try archive.value("NS.time", of: object) {
                    .date(Date(timeIntervalSinceReferenceDate: seconds))
                } else {
                    nil
                }
            default: nil
            }
        return found?.fits(type) == true ? found : nil
    }

    /// Returns a derivation in the form that model files have: `pages.@count`.
    private func derivation(_ object: Object, _ name: String) throws(ArchiveFailure) -> String {
        let selector = try text("NSSelectorName", of: object) ?? ""
        if selector == "now" { return "now()" }
        let arguments = try archive.list(object["NSArguments"])
        if arguments.count == 1 {
            if let path = try path(object) { return path }
            if let path = try path(archive.object(arguments[0])) {
                let parts = path.split(separator: ".")
                switch selector {
                case "count:": return "\(path).@count"
                case "sum:" where parts.count == 2: return "\(parts[0]).@sum.\(parts[1])"
                case "canonical:", "uppercase:", "lowercase:": return "\(selector)(\(path))"
                default: break
                }
            }
        }
        throw ArchiveFailure("derives '\(name)' with '\(selector)', which is not supported")
    }

    /// The key path of a key-path expression; `nil` for another expression.
    private func path(_ object: Object) throws(ArchiveFailure) -> String? {
        guard try archive.className(object) == "NSKeyPathExpression",
            let argument = try archive.list(object["NSArguments"]).first
        else { return nil }
        return try text("NSKeyPath", of: archive.object(argument))
    }

    // MARK: - Values

    private func text(_ key: String, of object: Object) throws(ArchiveFailure) -> String? {
        try archive.value(key, of: object)?.string
    }

    /// Core Data writes a flag only if it is set.
    private func flag(_ key: String, of object: Object) throws(ArchiveFailure) -> Bool {
        try archive.value(key, of: object) == .boolean(true)
    }

    private func number(_ key: String, of object: Object) throws(ArchiveFailure) -> Int64 {
        try archive.value(key, of: object)?.integer ?? 0
    }

    /// Returns lists of property names, without those of anything else.
    private func lists(_ key: String, of object: Object) throws(ArchiveFailure) -> [[String]] {
        guard let value = try archive.value(key, of: object) else { return [] }
        var lists: [[String]] = []
        for list in try archive.list(value) {
            var names: [String?] = []
            for element in try archive.list(list) {
                switch try archive.resolve(element) {
                case .string(let name): names.append(name)
                case .dictionary(let property): names.append(try text("NSPropertyName", of: property))
                default: names.append(nil)
                }
            }
            if !names.contains(nil) { lists.append(names.compactMap { $0 }) }
        }
        return lists
    }
}

extension AttributeType {
    /// Core Data's number of a type (https://developer.apple.com/documentation/coredata/nsattributetype); `nil` for one that
    /// stores here cannot have.
    fileprivate init?(coreDataCode code: Int64) {
        let types: [Int64: AttributeType] = [
            0: .undefined, 100: .integer16, 200: .integer32, 300: .integer64, 400: .decimal, 500: .double, 600: .float,
            700: .string, 800: .boolean, 900: .date, 1000: .binary, 1100: .uuid, 1200: .uri, 1800: .transformable,
            2100: .composite,
        ]
        guard let type = types[code] else { return nil }
        self = type
    }
}
