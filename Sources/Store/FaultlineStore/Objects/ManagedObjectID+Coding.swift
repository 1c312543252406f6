import Foundation

extension CodingUserInfoKey {
    /// The coordinator of the store whose object IDs are decoded: a ``PersistentStoreCoordinator``.
    public static let persistentStoreCoordinator = CodingUserInfoKey(rawValue: "persistentStoreCoordinator")!
}

/// Encodes object IDs as their URIs. To decode them, put the coordinator of their store into the decoder's `userInfo`:
///
///     decoder.userInfo[.persistentStoreCoordinator] = container.persistentStoreCoordinator
///
/// This makes object IDs usable in a `#Predicate`.
extension ManagedObjectID: Codable {
    /// Encodes the object ID as its URI.
    ///
    /// - Throws: `EncodingError` if the ID is temporary, because it would identify nothing later.
    public func encode(to encoder: any Encoder) throws {
        guard !isTemporaryID else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "The object \(text) has not been saved, so its ID will change; save it first."))
        }
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// Decodes an object ID from its URI.
    ///
    /// - Throws: `DecodingError` if the decoder has no coordinator, or if the text is not the URI of an object of that
    ///   coordinator's store, but not if the object no longer exists.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let coordinator = decoder.userInfo[.persistentStoreCoordinator] as? PersistentStoreCoordinator else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription:
                    "The object ID \(text) belongs to a store that the decoder does not know; set userInfo[.persistentStoreCoordinator]."
            )
        }
        guard let id = URL(string: text).flatMap({ coordinator.managedObjectID(forURIRepresentation: $0) }) else {
            throw DecodingError.dataCorruptedError(
                in: container,
                debugDescription: "'\(text)' is not the ID of an object of the store \(coordinator.storeUUID).")
        }
        self = id
    }
}
