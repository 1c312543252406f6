/// One change between two versions of a model.
///
/// Its description is the part of a sentence: `the attribute 'Car.color' was removed`.
public struct ModelDifference: Sendable, Hashable {
    /// The part of a model that changed.
    public enum Element: String, Sendable, Hashable, CaseIterable {
        /// An entity itself.
        case entity
        /// An attribute of an entity.
        case attribute
        /// A relationship of an entity.
        case relationship
        /// A fetch index of an entity.
        case index
    }

    /// The change of an element.
    public enum Change: Sendable, Hashable {
        /// The older version does not have the element.
        case added
        /// The newer version does not have the element.
        case removed
        /// The element had another name, and a renaming identifier connects the two.
        case renamed(from: String)
        /// The property is now declared by another entity of the same hierarchy; before, by that one.
        case moved(from: String)
        /// A setting has another value; both are texts as a reader expects them, such as `Integer 16`.
        case changed(Setting, from: String, to: String)
    }

    /// A setting of an entity or of a property.
    public enum Setting: String, Sendable, Hashable, CaseIterable {
        /// The parent of an entity.
        case parent
        /// Whether an entity is abstract.
        case abstract
        /// The name of the class of an entity's objects, or of a transformable attribute's values.
        case className = "class name"
        /// The uniqueness constraints of an entity.
        case uniquenessConstraints = "uniqueness constraints"
        /// The type of an attribute.
        case type
        /// Whether a property is optional.
        case optional
        /// Whether a property is transient.
        case transient
        /// The default value of an attribute.
        case defaultValue = "default value"
        /// The expression from which an attribute is derived.
        case derivation
        /// Whether large values of an attribute are stored in files.
        case externalStorage = "external storage"
        /// The smallest and largest value of an attribute, and its pattern.
        case validation
        /// The name of the transformer of a transformable attribute.
        case transformer = "value transformer"
        /// The entity at the other end of a relationship.
        case destination
        /// The inverse of a relationship.
        case inverse
        /// Whether a relationship is to-many.
        case toMany = "to-many"
        /// Whether a relationship is ordered.
        case ordered
        /// The smallest number of objects of a relationship.
        case minimumCount = "minimum count"
        /// The largest number of objects of a relationship.
        case maximumCount = "maximum count"
        /// The delete rule of a relationship.
        case deleteRule = "delete rule"
        /// The elements of a fetch index.
        case elements
        /// The modifier of the version hash.
        case versionHashModifier = "version hash modifier"
        /// The renaming identifier.
        case renamingIdentifier = "renaming identifier"
        /// The notes of the model's author.
        case userInfo = "user info"
    }

    /// The name of the entity: in the newer version, or in the older one if the element was removed.
    public let entity: String
    /// The kind of element that changed.
    public let element: Element
    /// The name of the attribute, the relationship or the index; `nil` for the entity itself.
    public let name: String?
    /// The change of the element.
    public let change: Change
    /// Whether a store of the older version must be migrated because of this change.
    public let requiresMigration: Bool

    init(
        _ element: Element, of entity: String, named name: String? = nil, _ change: Change,
        requiresMigration: Bool = true
    ) {
        self.element = element
        self.entity = entity
        self.name = name
        self.change = change
        self.requiresMigration = requiresMigration
    }

    /// The element's place in the model: `Car`, `Car.color`.
    public var path: String { name.map { "\(entity).\($0)" } ?? entity }
}

extension ModelDifference: CustomStringConvertible {
    /// The value as text.
    public var description: String {
        let subject =
            element == .entity ? "the entity '\(path)'" : element == .index ? "the index '\(path)'" : "'\(path)'"
        switch change {
        // A property can be replaced by one of another kind with the same name.
        case .added: return "the \(element.rawValue) '\(path)' was added"
        case .removed: return "the \(element.rawValue) '\(path)' was removed"
        case .renamed(let old): return "\(subject) was renamed from '\(old)'"
        case .moved(let old): return "\(subject) was moved from '\(old)'"
        case .changed(let setting, let old, let new):
            if let words = Self.words[setting] { return "\(subject) became \(new == "yes" ? words.on : words.off)" }
            return "the \(setting.rawValue) of \(subject) changed from \(old) to \(new)"
        }
    }

    /// The words for a setting that is switched on or off.
    private static let words: [Setting: (on: String, off: String)] = [
        .abstract: ("abstract", "concrete"), .optional: ("optional", "required"),
        .transient: ("transient", "persistent"), .toMany: ("to-many", "to-one"),
        .ordered: ("ordered", "unordered"), .externalStorage: ("externally stored", "stored in the database"),
    ]
}
