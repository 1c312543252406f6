/// A position in the persistent history of one or more stores.
///
/// Save it so that the next run of the program fetches only newer transactions:
///
///     let token = coordinator.currentPersistentHistoryToken(fromStores: nil)
///     defaults.set(try JSONEncoder().encode(token), forKey: "history")
///
/// Tokens of Core Data, which are keyed archives, cannot be decoded.
public struct PersistentHistoryToken: Sendable, Hashable, Codable {
    /// The number of the last transaction before the position, by the identifier of its store.
    let transactionNumbers: [String: Int64]

    init(_ transactionNumbers: [String: Int64]) {
        self.transactionNumbers = transactionNumbers
    }
}

extension PersistentHistoryToken: CustomStringConvertible {
    /// The stores and the numbers of their transactions.
    public var description: String {
        let parts = transactionNumbers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        return "<PersistentHistoryToken: \(parts.joined(separator: ", "))>"
    }
}
