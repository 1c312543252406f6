import FaultlineStore
import Foundation

/// A value of a predicate that was drawn from a copy, for any container that opens the copy.
enum DrawnValue: Sendable {
    case value(any AttributeScalar)
    /// The URL of an object's identity, which every container makes its own of.
    case object(URL)
    case list([DrawnValue])

    /// The value as a predicate of one container takes it.
    ///
    /// - Throws: ``Untriable`` if the object is not there.
    func argument(in coordinator: PersistentStoreCoordinator) throws -> any FetchPredicateArgument {
        switch self {
        case .value(let value): return value
        case .object(let url):
            guard let id = coordinator.managedObjectID(forURIRepresentation: url) else {
                throw Untriable("The copy has no object \(url.absoluteString).")
            }
            return id
        case .list(let values):
            return FetchExpression.list(try values.map { try $0.argument(in: coordinator)._predicateArgument })
        }
    }
}
