import Foundation

extension CodingUserInfoKey {
    /// The coordinator of the store whose object IDs are decoded: a ``PersistentStoreCoordinator``.
    public static let persistentStoreCoordinator = CodingUserInfoKey(rawValue: "persistentStoreCoordinator")!
}

/// Object IDs are archived as their URIs, and come back where the decoder's `userInfo` has the coordinator of their store:
///
///     decoder.userInfo[.persistentStoreCoordinator] = container.persistentStoreCoordinator
///
/// With that they can stand in a `#Predicate`.
extension ManagedObjectID: Codable {
    /// - Throws: `EncodingError` if the ID is temporary, so that nothing could be found by it later.
    public func encode(to encoder: any Encoder) throws {
        guard !isTemporaryID else {
            throw EncodingError.invalidValue(
                self,
                EncodingError.Context(
                    codingPath: encoder.codingPath,
                    debugDescription: "The object \(text) was not saved yet, so its ID will change; save it first."))
        }
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    /// - Throws: `DecodingError` if the decoder has no coordinator, or what it reads is no URI of an object of that
    ///   coordinator's store. Not if the object is not there any more.
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
                debugDescription: "'\(text)' is no ID of an object of the store \(coordinator.storeUUID).")
        }
        self = id
    }
}
