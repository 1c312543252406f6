/// An expression of a mapping model, such as `$source.name`.
///
/// It is evaluated for each older object. Its text has the syntax of Core Data's mapping models:
///
///     $source.continent.numericISO3166Code
///     $source.countries.@distinctUnionOfSets.moods
///     FUNCTION($manager, "destinationInstancesForEntityMappingNamed:sourceInstances:", "PersonToPerson", $source.owner)
///     FUNCTION($entityPolicy, "titleForBook:", $source)
///     CAST("NSDate", "Class")
public indirect enum MappingExpression: Sendable, Hashable {
    /// The variables that a migration sets before it evaluates an expression.
    public enum Variable: String, Sendable, Hashable, CaseIterable {
        /// The migration manager.
        case manager
        /// The older object.
        case source
        /// The newer object, in expressions of relationships.
        case destination
        /// The entity mapping that is processed.
        case entityMapping
        /// The property mapping whose value is computed.
        case propertyMapping
        /// The policy of the entity mapping.
        case entityPolicy

        /// All variables, as part of an error message.
        static var list: String { allCases.map { "'$\($0.rawValue)'" }.joined(separator: ", ") }
    }

    /// A value, or `nil`.
    case constant(AttributeValue?)
    /// The value of a variable.
    case variable(Variable)
    /// The value at a key path from an object, with Core Data's collection operators.
    case keyPath(MappingExpression, String)
    /// The result of a method, named by its Objective-C selector.
    case function(MappingExpression, selector: String, [MappingExpression])
    /// A value as another type; `CAST("NSDate", "Class")` is the class of that name.
    case cast(MappingExpression, type: String)
    /// The objects that a fetch request finds, or their number.
    case fetch(MappingExpression, context: MappingExpression, countsOnly: Bool)

    /// The value of one of the older object's properties, or at a key path from it.
    public static func source(_ keyPath: String) -> MappingExpression { .keyPath(.variable(.source), keyPath) }

    /// The newer objects that a mapping created for the objects of an expression.
    public static func destinationInstances(
        forEntityMappingNamed name: String, sourceInstances: MappingExpression
    ) -> MappingExpression {
        .function(
            .variable(.manager), selector: Self.instancesOfMapping, [.constant(.string(name)), sourceInstances])
    }

    /// The newer objects for the members of the older object's relationship, whichever mappings created them.
    public static func destinationInstances(forSourceRelationshipNamed name: String) -> MappingExpression {
        .function(
            .variable(.manager), selector: Self.instancesOfRelationship, [.constant(.string(name)), .source(name)])
    }

    package static let instancesOfMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    package static let instancesOfRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
}

extension MappingExpression: CustomStringConvertible {
    /// The value as text.
    public var description: String {
        switch self {
        case .constant(.string(let text)?): "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
        case .constant(.boolean(let isTrue)?): isTrue ? "YES" : "NO"
        case .constant(let value?): value.description
        case .constant(nil): "nil"
        case .variable(let variable): "$" + variable.rawValue
        case .keyPath(let operand, let path): "\(operand).\(path)"
        case .function(let receiver, let selector, let arguments):
            "FUNCTION(\(([receiver.description, "\"\(selector)\""] + arguments.map(\.description)).joined(separator: ", ")))"
        case .cast(let operand, let type): "CAST(\(operand), \"\(type)\")"
        case .fetch(let request, let context, let countsOnly):
            "FETCH(\(request), \(context), \(countsOnly ? "YES" : "NO"))"
        }
    }
}
