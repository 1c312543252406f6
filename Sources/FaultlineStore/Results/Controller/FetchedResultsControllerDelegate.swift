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
    ///   - controller: the controller whose content has changed.
    ///   - section: the section.
    ///   - index: the section's index in the new content if it was inserted, in the old content if it was deleted.
    ///   - type: whether the section was inserted or deleted.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType)

    /// An object was inserted, deleted, moved or updated.
    ///
    /// - Parameters:
    ///   - controller: the controller whose content has changed.
    ///   - object: the object.
    ///   - indexPath: the old position; `nil` if the object was inserted.
    ///   - type: what happened to the object.
    ///   - newIndexPath: the new position; `nil` if the object was deleted.
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
