import FaultlineModel
public import Foundation

/// The result of a fetch request, kept up to date with its context and reported to a list that shows it.
///
///     let controller = FetchedResultsController(
///         fetchRequest: FetchRequest<Item>(sortDescriptors: [.ascending("category.name"), .ascending("name")]),
///         managedObjectContext: context, sectionNameKeyPath: "category.name")
///     try controller.performFetch()
///     for await changes in controller.changes { list.apply(changes) }
///
/// The content follows the changes in the context: inserted, changed, deleted, refreshed and merged objects. As in a
/// fetch with ``FetchRequest/includesPendingChanges``, only an object's own changes count: its related objects are
/// considered when the object itself changes. The controller is used on the context's queue.
///
/// With a batch size, rows are loaded in batches on access; finding the position of a changed object reads a few rows.
/// Sections load all rows, unless the section name is a stored string attribute of the entity that the request sorts by
/// first, in lexical order, without limit and offset, and the context has no unsaved changes: one more statement then
/// counts the rows of each section.
public final class FetchedResultsController<Object: ManagedObject> {
    /// The request whose results the controller follows.
    public let fetchRequest: FetchRequest<Object>
    /// The context in which it fetches and whose changes it follows.
    public let managedObjectContext: ManagedObjectContext
    /// The key path of the section name; `nil` puts all objects into one section.
    ///
    /// The first sort descriptor must keep the objects of a section together.
    public let sectionNameKeyPath: String?
    /// The name of the file in which sections are kept; `nil` for none.
    public let cacheName: String?
    /// The delegate that receives changes.
    public weak var delegate: (any FetchedResultsControllerDelegate<Object>)?

    private var content: FetchedResultsContent?
    private var observer: (any NSObjectProtocol)?
    private var listeners: [UUID: AsyncStream<FetchedResultsChanges>.Continuation] = [:]
    /// The folder of the cache; `nil` for that of the program.
    package var cacheDirectory: URL?
    let site: (fileID: StaticString, line: UInt, function: StaticString)

    /// Creates a controller, which fetches nothing until ``performFetch()``.
    ///
    /// The request must return objects; its fetches are recorded with the call site of this initializer.
    ///
    /// - Parameters:
    ///   - fetchRequest: The request whose results the controller follows.
    ///   - managedObjectContext: The context in which it fetches and whose changes it follows.
    ///   - sectionNameKeyPath: The key path of the section name; `nil` puts all objects into one section.
    ///   - cacheName: The name of a file that keeps the names and sizes of the sections from one run of the program to
    ///     the next. It is used if the request, the model and the stores' files are as they were when it was written,
    ///     and replaced otherwise. Without a ``sectionNameKeyPath`` it has no effect; nor if the name is not a stored
    ///     attribute that the request sorts by first, in lexical order, without limit and offset, if the predicate
    ///     depends on the time, in a child context, and with unsaved changes.
    public init(
        fetchRequest: FetchRequest<Object>, managedObjectContext: ManagedObjectContext,
        sectionNameKeyPath: String? = nil, cacheName: String? = nil, fileID: StaticString = #fileID, line: UInt = #line,
        function: StaticString = #function
    ) {
        self.fetchRequest = fetchRequest
        self.managedObjectContext = managedObjectContext
        self.sectionNameKeyPath = sectionNameKeyPath
        self.cacheName = cacheName
        site = (fileID, line, function)
    }

    deinit {
        if let observer { NotificationCenter.default.removeObserver(observer) }
        for listener in listeners.values { listener.finish() }
    }

    // MARK: - Fetching

    /// Runs the fetch request, and starts following the context's changes.
    ///
    /// - Throws: ``StoreError`` as a fetch does; also if the request has no sort descriptors, or if they separate
    ///   objects of one section.
    public func performFetch() throws {
        guard !fetchRequest.sortDescriptors.isEmpty else {
            throw StoreError(
                .invalidRequest,
                "Fetching \(fetchRequest.entityName): a controller keeps its objects in order, but the request has no sort descriptors; add one."
            )
        }
        let cache = cachedSections()
        var new = FetchedResultsContent(try fetch())
        if sectionNameKeyPath != nil {
            new.names =
                storedNames(of: new.entries.count, cache)
                ?? new.entries.indices.map { sectionName(of: new.unusedObject($0)) }
        }
        if let name = new.makeSections(isDivided: sectionNameKeyPath != nil) {
            throw StoreError(
                .invalidRequest,
                "Fetching \(fetchRequest.entityName): the sort descriptors separate objects of section '\(name)'; sort by '\(sectionNameKeyPath ?? "")' first."
            )
        }
        content = new
        observe()
    }

    private func fetch() throws -> FetchedObjects {
        try managedObjectContext.fetch(
            fetchRequest, fileID: site.fileID, line: site.line, function: site.function
        ).objects
    }

    // MARK: - Content

    /// The objects in order; `nil` before the first fetch.
    ///
    /// - Complexity: O(*n*), and loads every batch; ``sections`` and ``object(at:)`` do not.
    public var fetchedObjects: [Object]? {
        content.map { content in
            content.entries.indices.map { unsafeDowncast(content.object($0), to: Object.self) }
        }
    }

    /// The sections with their objects: one section without a ``sectionNameKeyPath``; `nil` before the first fetch.
    public var sections: [FetchedResultsSection<Object>]? {
        content.map { content in
            content.sections.map {
                FetchedResultsSection(content, $0, indexTitle: Self.indexTitle(forSectionName: $0.name))
            }
        }
    }

    /// The object at an index path.
    ///
    /// Traps if there is none.
    public func object(at indexPath: IndexPath) -> Object {
        guard let content, content.sections.indices.contains(indexPath.section),
            content.sections[indexPath.section].range.count > indexPath.item, indexPath.item >= 0
        else { incorrectUse("There is no object at \(indexPath).") }
        let position = content.sections[indexPath.section].range.lowerBound + indexPath.item
        return unsafeDowncast(content.object(position), to: Object.self)
    }

    /// The index path of an object; `nil` if the object is not in the content.
    ///
    /// - Complexity: O(*n*); compares keys only.
    public func indexPath(forObject object: Object) -> IndexPath? {
        guard let content, object.managedObjectContext === managedObjectContext else { return nil }
        let position = content.entries.indices.first { content.key($0) == object.objectKey }
        return position.map { content.indexPath($0) }
    }

    /// The titles of the section index, each once, in the order of the sections.
    public var sectionIndexTitles: [String] {
        var titles: [String] = []
        for section in content?.sections ?? [] {
            let title = Self.indexTitle(forSectionName: section.name)
            if titles.last != title { titles.append(title) }
        }
        return titles
    }

    /// The first section with a title.
    public func section(forSectionIndexTitle title: String) -> Int? {
        content?.sections.firstIndex { Self.indexTitle(forSectionName: $0.name) == title }
    }

    /// The title of a section in the section index: the first letter of its name, in uppercase.
    static func indexTitle(forSectionName name: String) -> String { name.prefix(1).uppercased() }

    private func sectionName(of object: ManagedObject) -> String {
        guard let sectionNameKeyPath else { return "" }
        return object.sectionName(sectionNameKeyPath)
    }

    // MARK: - Changes

    /// The changes from now on, as an asynchronous sequence.
    ///
    /// Changes are buffered until they are read; the sequence ends with the controller. Access it on the context's
    /// queue; the sequence can be read anywhere.
    public var changes: AsyncStream<FetchedResultsChanges> {
        AsyncStream { continuation in listeners[UUID()] = continuation }
    }

    private func observe() {
        guard observer == nil else { return }
        // Posted on the context's queue, where the controller is used.
        let this = Unchecked(self)
        observer = NotificationCenter.default.addObserver(
            forName: ManagedObjectContext.didChangeObjectsNotification, object: managedObjectContext, queue: nil
        ) { notification in this.controller?.take(notification) }
    }

    /// A weak reference to the controller, for the notification center.
    private final class Unchecked: @unchecked Sendable {
        // Accessed on the context's queue only, where the context posts its notifications.
        weak var controller: FetchedResultsController?

        init(_ controller: FetchedResultsController) {
            self.controller = controller
        }
    }

    private func take(_ notification: Notification) {
        guard let content else { return }
        func objects(_ key: ManagedObjectContext.NotificationKey) -> Set<ManagedObject> {
            notification.userInfo?[key.rawValue] as? Set<ManagedObject> ?? []
        }
        let isReset = notification.userInfo?[ManagedObjectContext.NotificationKey.invalidatedAllObjects.rawValue] != nil
        let deleted = objects(.deletedObjects)
        let changed = objects(.insertedObjects).union(objects(.updatedObjects)).union(objects(.refreshedObjects))
            .subtracting(deleted)
        guard let schema = managedObjectContext.model?.entity(named: fetchRequest.entityName) else { return }
        let affected = fetchRequest.affectedStores
        let concerned = changed.union(deleted).filter { object in
            object.runtime.schema.root == schema.root
                && affected.map { $0.contains(object.runtime.store.identity) } ?? true
        }
        guard isReset || !concerned.isEmpty else { return }
        do {
            if isReset || fetchRequest.fetchLimit > 0 || fetchRequest.fetchOffset > 0 {
                return try replace(content, changed: isReset ? nil : changed)
            }
            let wanted = fetchRequest.includesSubentities ? Set(schema.family) : [schema.index]
            let evaluator = PredicateEvaluator()
            let matches = concerned.subtracting(deleted).filter { object in
                wanted.contains(object.runtime.schema.index) && !object.isDeleted && !object.isInaccessible
                    && fetchRequest.predicate.map { evaluator.holds($0.node, for: object) } ?? true
            }
            apply(content, Array(matches), Set(concerned.map(\.objectKey)), evaluator)
        } catch let error as StoreError {
            managedObjectContext.observeReadError(error)
        } catch {}
    }

    /// Fetches again, because with a limit or an offset any change can affect the whole content.
    ///
    /// - Parameter changed: The changed objects; `nil` after a reset, when all objects are different.
    private func replace(_ old: FetchedResultsContent, changed: Set<ManagedObject>?) throws {
        let found = FetchedResultsContent(try fetch())
        let before = Set(old.entries.indices.map { old.key($0) })
        let after = Set(found.entries.indices.map { found.key($0) })
        let keys =
            changed.map { Set($0.map(\.objectKey)).union(before.symmetricDifference(after)) } ?? before.union(after)
        let matches = found.entries.indices.filter { keys.contains(found.key($0)) }.map { found.object($0) }
        apply(old, matches, keys, PredicateEvaluator())
    }

    private func apply(
        _ old: FetchedResultsContent, _ matches: [ManagedObject], _ keys: Set<ObjectKey>,
        _ evaluator: PredicateEvaluator
    ) {
        let update = FetchedResultsUpdate(
            old, matches: matches, changedKeys: keys, order: SortOrder(fetchRequest.sortDescriptors),
            evaluator: evaluator, sectionName: sectionNameKeyPath == nil ? nil : { [self] in sectionName(of: $0) })
        guard !update.changes.isEmpty else { return }
        delegate?.controllerWillChangeContent(self)
        content = update.content
        if let delegate { tell(delegate, update.changes, old, update.content) }
        for listener in listeners.values { listener.yield(update.changes) }
    }

    private func tell(
        _ delegate: any FetchedResultsControllerDelegate<Object>, _ changes: FetchedResultsChanges,
        _ old: FetchedResultsContent, _ new: FetchedResultsContent
    ) {
        func section(_ content: FetchedResultsContent, _ index: Int) -> FetchedResultsSection<Object> {
            let section = content.sections[index]
            return FetchedResultsSection(content, section, indexTitle: Self.indexTitle(forSectionName: section.name))
        }
        for index in changes.deletedSections {
            delegate.controller(self, didChange: section(old, index), atSectionIndex: index, for: .delete)
        }
        for index in changes.insertedSections {
            delegate.controller(self, didChange: section(new, index), atSectionIndex: index, for: .insert)
        }
        for change in changes.objects {
            let (id, from, to, type) = change.parts
            let object = unsafeDowncast(managedObjectContext.object(with: id), to: Object.self)
            delegate.controller(self, didChange: object, at: from, for: type, newIndexPath: to)
        }
        delegate.controller(self, didChangeContentWith: changes)
        delegate.controllerDidChangeContent(self)
    }
}

@available(*, unavailable)
extension FetchedResultsController: Sendable {}

extension FetchedResultsChange {
    fileprivate var parts: (ManagedObjectID, from: IndexPath?, to: IndexPath?, FetchedResultsChangeType) {
        switch self {
        case .insert(let id, let path): (id, nil, path, .insert)
        case .delete(let id, let path): (id, path, nil, .delete)
        case .move(let id, let from, let to): (id, from, to, .move)
        case .update(let id, let from, let to): (id, from, to, .update)
        }
    }
}

extension ManagedObject {
    /// The value at the end of a key path as a section name; empty if there is none.
    fileprivate final func sectionName(_ keyPath: String) -> String {
        var object: ManagedObject? = self
        let names = keyPath.split(separator: ".").map(String.init)
        for name in names.dropLast() { object = object?.value(forKey: name) as? ManagedObject }
        guard let object, let last = names.last, let value = object.value(forKey: last) else { return "" }
        return "\(value)"
    }
}
