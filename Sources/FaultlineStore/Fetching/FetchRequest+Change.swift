package import FaultlineTrace

extension FetchRequest {
    /// Returns the request with a change applied.
    package func changed(by change: FetchChange) -> FetchRequest {
        var request = self
        if let size = change.batchSize { request.fetchBatchSize = Int(size) }
        if let limit = change.limit { request.fetchLimit = Int(limit) }
        request.relationshipKeyPathsForPrefetching = change.prefetched(relationshipKeyPathsForPrefetching)
        if let properties = change.properties {
            request.propertiesToFetch = properties.map { ExpressionDescription($0, .keyPath($0)) }
        }
        if change.readsIdentitiesOnly {
            request.includesPropertyValues = false
            // With a batch size, the first access to an object would read its rows.
            if change.batchSize == nil { request.fetchBatchSize = 0 }
        }
        return request
    }
}
