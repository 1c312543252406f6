public import Foundation

/// The receiver of a ``FetchedResultsController``'s changes, on its context's queue.
///
/// All methods are optional.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
    /// The class of the objects that the controller fetches.
    associatedtype Object: ManagedObject

    /// The content is about to change; it is still the old one.
    func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)

    /// A section was inserted or deleted.
    ///
    /// - Parameters:
    ///   - controller: The controller whose content has changed.
    ///   - section: The section.
    ///   - index: The section's index in the new content if it was inserted, in the old content if it was deleted.
    ///   - type: Whether the section was inserted or deleted.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType)

    /// An object was inserted, deleted, moved or updated.
    ///
    /// - Parameters:
    ///   - controller: The controller whose content has changed.
    ///   - object: The object.
    ///   - indexPath: The old position; `nil` if the object was inserted.
    ///   - type: The kind of change.
    ///   - newIndexPath: The new position; `nil` if the object was deleted.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
        for type: FetchedResultsChangeType, newIndexPath: IndexPath?)

    /// All changes have been reported.
    func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)

    /// All changes made at one time, as one value.
    func controller(_ controller: FetchedResultsController<Object>, didChangeContentWith changes: FetchedResultsChanges)
}

extension FetchedResultsControllerDelegate {
    /// Does nothing.
    public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}

    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType
    ) {}

    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
        for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    /// Does nothing.
    public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}

    /// Does nothing.
    public func controller(
        _ controller: FetchedResultsController<Object>, didChangeContentWith changes: FetchedResultsChanges
    ) {}
}
