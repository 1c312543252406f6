internal import FaultlineModel
internal import Foundation

extension FetchedResultsController {
    /// The section name of each row, from one statement that counts the rows of each section, or from the cache.
    ///
    /// This avoids loading batches for the names alone. `nil` if the names must be read from the objects: if there is
    /// neither a batch size nor a cache, if the request does not sort by the section name first, if the name is not a
    /// stored attribute that is the same in the store and in memory, if the request has a limit or an offset, or if the
    /// context has unsaved changes.
    func storedNames(of rows: Int, _ cache: CachedSections?) -> [String]? {
        guard cache != nil || fetchRequest.fetchBatchSize > 0, let type = sectionNameType,
            type == .string || cache != nil
        else { return nil }
        if let names = cache?.sections?.names(of: rows) { return names }
        guard let sections = countedSections(), let names = sections.names(of: rows) else { return nil }
        cache?.keep(sections)
        return names
    }

    /// The type of the section name, if statements can count the sections; otherwise `nil`.
    private var sectionNameType: AttributeType? {
        guard let keyPath = sectionNameKeyPath, fetchRequest.fetchLimit == 0, fetchRequest.fetchOffset == 0,
            let order = fetchRequest.sortDescriptors.first, order.keyPath == keyPath, order.order == .lexical,
            !managedObjectContext.hasChanges, let model = managedObjectContext.model,
            let entity = model.entity(named: fetchRequest.entityName),
            // Without a cache, only names of the entity itself are counted, because that reads one table.
            cacheName != nil || !keyPath.contains("."),
            let property = model.property(keyPath, of: entity), let type = property.attributeType,
            !property.isTransient, type != .transformable
        else { return nil }
        return type
    }

    /// The sections in order; `nil` if they cannot be counted.
    private func countedSections() -> [SectionCache.Section]? {
        guard let keyPath = sectionNameKeyPath else { return nil }
        var request = fetchRequest
        let count = ExpressionDescription("count", .function(.count, "self"))
        (request.fetchBatchSize, request.relationshipKeyPathsForPrefetching) = (0, [])
        (request.resultType, request.propertiesToFetch) = (
            .dictionary, [ExpressionDescription(keyPath, .keyPath(keyPath)), count]
        )
        (request.propertiesToGroupBy, request.sortDescriptors) = ([keyPath], [fetchRequest.sortDescriptors[0]])
        guard
            let groups = try? managedObjectContext.fetchDictionaries(
                request, fileID: site.fileID, line: site.line, function: site.function)
        else { return nil }
        var sections: [SectionCache.Section] = []
        for group in groups {
            guard case .integer(let count)? = group["count"] else { return nil }
            let name = group[keyPath].map { "\($0.plain)" } ?? ""
            sections.append(SectionCache.Section(name: name, count: Int(count)))
        }
        return sections
    }

    // MARK: - The cache

    /// Deletes the cache with a name, or all caches of this program.
    ///
    /// A cache that no longer matches its request or store is never used, so this only frees its space.
    ///
    /// - Parameter name: The name that controllers were created with; `nil` for all caches.
    public static func deleteCache(withName name: String?) {
        SectionCache.delete(name, in: nil)
    }

    /// The cache and the sections in it, for a fetch that begins now; `nil` if sections cannot be cached.
    func cachedSections() -> CachedSections? {
        let context = managedObjectContext
        guard let cacheName, context.parent == nil, context.pinned == nil, sectionNameType != nil,
            let request = requestText
        else { return nil }
        // The fetch must not read an older state than the files have now.
        context.finishReading()
        guard let state = context.fileState else { return nil }
        let cache = SectionCache(cacheName, for: request, in: cacheDirectory)
        return CachedSections(cache: cache, state: state, context: context)
    }

    /// Everything in the request that determines the sections; `nil` if they depend on something else.
    private var requestText: String? {
        var constants: [UInt8] = []
        _ = fetchRequest.predicate?.operandHashes { bytes in
            constants += bytes
            return 0
        }
        let predicate = fetchRequest.predicate?.shape ?? ""
        guard !predicate.contains("now("), let model = managedObjectContext.model else { return nil }
        let stores = fetchRequest.affectedStores?.map(\.identifier).joined(separator: ",") ?? "all"
        return [
            model.digest, fetchRequest.entityName, predicate, Data(constants).base64EncodedString(),
            fetchRequest.sortDescriptors.map(\.text).joined(separator: ","), sectionNameKeyPath ?? "",
            "\(fetchRequest.includesSubentities)", stores, "\(fetchRequest.keys as Any)",
        ].joined(separator: "\n")
    }
}

extension [SectionCache.Section] {
    /// The section name of each row, or `nil` if the sections have another number of rows.
    fileprivate func names(of rows: Int) -> [String]? {
        let names = flatMap { Array<String>(repeating: $0.name, count: $0.count) }
        return names.count == rows ? names : nil
    }
}

/// The cached sections of a fetch, and the state of the stores before it.
struct CachedSections {
    let cache: SectionCache
    let state: String
    let context: ManagedObjectContext

    /// The sections, if nothing was written since the fetch began.
    var sections: [SectionCache.Section]? {
        guard let sections = cache.sections(in: state), context.fileState == state else { return nil }
        return sections
    }

    /// Writes the sections to the cache, if nothing was written since the fetch began.
    func keep(_ sections: [SectionCache.Section]) {
        guard context.fileState == state, !context.isAnyFileFresh else { return }
        cache.write(sections, in: state)
    }
}

extension ManagedObjectContext {
    /// The state of the files of all stores; `nil` if one has none.
    fileprivate var fileState: String? {
        var states: [String] = []
        for store in stores {
            guard let state = StoreFileState(store) else { return nil }
            states.append(state.text)
        }
        return states.isEmpty ? nil : states.joined(separator: "\n")
    }

    fileprivate var isAnyFileFresh: Bool { stores.contains { StoreFileState($0)?.isFresh != false } }
}
