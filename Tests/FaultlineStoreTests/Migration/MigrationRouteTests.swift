import FaultlineModel
import FaultlineStore
import Foundation
import Synchronization
import Testing

@Suite("A migration does nothing twice")
struct MigrationRouteTests {
    /// Counts the work on models of a closure.
    private final class Work: Sendable {
        private let found = Mutex<[ModelWork]>([])

        func count(_ work: ModelWork, during body: () throws -> Void) rethrows -> Int {
            found.withLock { $0 = [] }
            try ModelWork.$observer.withValue({ work in self.found.withLock { $0.append(work) } }, operation: body)
            return found.withLock { $0.count { $0 == work } }
        }
    }

    private let work = Work()
    private let models: [ManagedObjectModel]
    private let store: MigratedStore

    /// A store of the first of nine versions of a model, which lie beside one another.
    init() throws {
        let folder = try TestStore.makeFolder().appendingPathComponent("Notes.xcdatamodeld")
        models = try (1...9).map { number in
            let url = folder.appendingPathComponent("Notes \(number).xcdatamodel")
            let attributes = (1...number).map { AttributeDescription("text\($0)", .string) }
            try ManagedObjectModel(entities: [EntityDescription("Note", attributes: attributes)]).write(to: url)
            return try ManagedObjectModel(contentsOf: url)
        }
        store = try MigratedStore(
            models[0].entities, "INSERT INTO ZNOTE (Z_PK, Z_ENT, Z_OPT, ZTEXT1) VALUES (1, 1, 1, 'one')")
    }

    private func preview(to model: ManagedObjectModel, _ sources: [ManagedObjectModel] = []) throws {
        _ = try #require(try MigrationPreview.of(storeAt: store.url, to: model, sources: sources))
    }

    @Test("No versions beside the newer one are laid out if the store has a copy of its own")
    func ownCopy() throws {
        #expect(try work.count(.layout) { try preview(to: models[1]) } == 1)
    }

    @Test("A store without a copy is looked for in the listed versions, and then in those beside the newer one")
    func noCopy() throws {
        try store.rows("DROP TABLE Z_FAULTLINE")
        for (sources, expected) in [([models[0]], 0), ([], 1), ([models[4]], 1)] {
            #expect(try work.count(.layout) { try preview(to: models[8], sources) } == expected)
        }
    }
}
