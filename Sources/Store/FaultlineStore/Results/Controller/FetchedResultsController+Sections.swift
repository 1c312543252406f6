internal import FaultlineModel

extension FetchedResultsController {
    /// The section name of each row of a batched result, from one statement that counts the rows of each section.
    ///
    /// This avoids loading batches for the names alone. `nil` if the names must be read from the objects: if the
    /// request does not sort by the section name first, if the name is not a stored string attribute of the entity, if
    /// the request has a limit or an offset, or if the context has unsaved changes.
    func countedNames(of rows: Int) -> [String]? {
        guard let keyPath = sectionNameKeyPath, fetchRequest.fetchBatchSize > 0, fetchRequest.fetchLimit == 0,
            fetchRequest.fetchOffset == 0, let order = fetchRequest.sortDescriptors.first, order.keyPath == keyPath,
            order.order == .lexical, !managedObjectContext.hasChanges,
            managedObjectContext.model?.entity(named: fetchRequest.entityName)?.property(keyPath)?.attributeType
                == .string
        else { return nil }
        var request = fetchRequest
        let count = ExpressionDescription("count", .function(.count, "self"))
        (request.fetchBatchSize, request.relationshipKeyPathsForPrefetching) = (0, [])
        (request.resultType, request.propertiesToFetch) = (
            .dictionary, [ExpressionDescription(keyPath, .keyPath(keyPath)), count]
        )
        (request.propertiesToGroupBy, request.sortDescriptors) = ([keyPath], [order])
        guard
            let groups = try? managedObjectContext.fetchDictionaries(
                request, fileID: site.fileID, line: site.line, function: site.function)
        else { return nil }
        var names: [String] = []
        for group in groups {
            guard case .integer(let count)? = group["count"] else { return nil }
            switch group[keyPath] {
            case .string(let name)?: names += repeatElement(name, count: Int(count))
            case nil: names += repeatElement("", count: Int(count))
            default: return nil
            }
        }
        return names.count == rows ? names : nil
    }
}
