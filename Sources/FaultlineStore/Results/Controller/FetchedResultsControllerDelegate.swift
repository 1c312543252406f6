public import Foundation

/// Whom a ``FetchedResultsController`` tells of changes, on its context's queue.
///
/// All methods do nothing unless implemented.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
    associatedtype Object: ManagedObject

    /// Changes follow; the content is still what it was.
    func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)

    /// A section came or went.
    ///
    /// - Parameter index: the section's number in the content after, if it came, or before, if it went.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType)

    /// An object came, went, moved or changed.
    ///
    /// - Parameters:
    ///   - indexPath: where it was; `nil`: it came.
    ///   - newIndexPath: where it is; `nil`: it went.
    func controller(
        _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
        for type: FetchedResultsChangeType, newIndexPath: IndexPath?)

    /// All changes were told.
    func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)

    /// All changes of one time, as one value.
    func controller(_ controller: FetchedResultsController<Object>, didChangeContentWith changes: FetchedResultsChanges)
}

extension FetchedResultsControllerDelegate {
    public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}

    public func controller(
        _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType
    ) {}

    public func controller(
        _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: IndexPath?,
        for type: FetchedResultsChangeType, newIndexPath: IndexPath?
    ) {}

    public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}

    public func controller(
        _ controller: FetchedResultsController<Object>, didChangeContentWith changes: FetchedResultsChanges
    ) {}
}
