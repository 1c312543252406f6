import FaultlineModel
import FaultlineStore

/// The objects of a to-many relationship, ordered or unordered.
struct Members: Sequence {
    private let iterator: AnyIterator<ManagedObject>

    /// Loads the objects.
    init(_ object: ManagedObject, _ property: PropertySchema) {
        switch object.value(forKey: property.name) {
        case let members as ToMany<ManagedObject>: iterator = members.makeIterator()
        case let members as OrderedToMany<ManagedObject>: iterator = members.makeIterator()
        default: iterator = AnyIterator { nil }
        }
    }

    func makeIterator() -> AnyIterator<ManagedObject> { iterator }
    var first: ManagedObject? { iterator.next() }
}
