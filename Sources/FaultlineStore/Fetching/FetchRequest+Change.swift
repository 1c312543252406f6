package import FaultlineTrace

extension FetchRequest {
    /// The request with advice taken.
    package func changed(by change: FetchChange) -> FetchRequest {
        var request = self
        if let size = change.batchSize { request.fetchBatchSize = Int(size) }
        if let limit = change.limit { request.fetchLimit = Int(limit) }
        request.relationshipKeyPathsForPrefetching = change.prefetched(relationshipKeyPathsForPrefetching)
        if let properties = change.properties {
            request.propertiesToFetch = properties.map { ExpressionDescription($0, .keyPath($0)) }
        }
        if change.readsIdentitiesOnly { request.includesPropertyValues = false }
        return request
    }
}
