import FaultlineStore
import Foundation
import Testing

@Suite("Object IDs are encoded as their URIs")
struct ObjectIDCodingTests {
    private func decode(_ data: Data, _ store: TestStore?) throws -> [ManagedObjectID] {
        let decoder = JSONDecoder()
        decoder.userInfo[.persistentStoreCoordinator] = store?.container.persistentStoreCoordinator
        return try decoder.decode([ManagedObjectID].self, from: data)
    }

    private func message(_ error: DecodingError?) -> String? {
        guard case .dataCorrupted(let context) = error else { return nil }
        return context.debugDescription
    }

    @Test("An object ID is decoded only if its store's coordinator is in userInfo")
    func roundTrip() throws {
        let store = try TestStore()
        try store.fill(items: 2)
        let ids = try store.context.fetch(FetchRequest<Item>()).map(\.objectID)
        let data = try JSONEncoder().encode(ids)
        #expect(try decode(data, store) == ids)

        let text = ids[0].uriRepresentation().absoluteString
        let nullDevice = #expect(throws: DecodingError.self) { try decode(data, nil) }
        #expect(
            message(nullDevice)
                == "The object ID \(text) belongs to a store that the decoder does not know; set userInfo[.persistentStoreCoordinator]."
        )
        let other = try TestStore()
        let elsewhere = #expect(throws: DecodingError.self) { try decode(data, other) }
        #expect(
            message(elsewhere)
                == "'\(text)' is not the ID of an object of the store \(other.container.persistentStoreCoordinator.storeUUID)."
        )
    }

    @Test("A temporary ID cannot be encoded")
    func temporary() throws {
        let store = try TestStore()
        let item = Item(context: store.context)
        let error = #expect(throws: EncodingError.self) { try JSONEncoder().encode([item.objectID]) }
        guard case .invalidValue(_, let context) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(
            context.debugDescription
                == "The object \(item.objectID.uriRepresentation().absoluteString) has not been saved, so its ID will change; save it first."
        )
    }
}
