import FaultlineEntities
import FaultlineRecorder
import Foundation
import TestFolders

/// A store of cars in a folder of its own.
final class TestStore {
    let folder: URL
    let container: PersistentContainer
    let context: ManagedObjectContext

    init(recorder: Recorder = .shared) throws {
        folder = try TestFolder.make()
        container = try Self.open(folder, recorder)
        context = container.newBackgroundContext()
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    private static func open(_ folder: URL, _ recorder: Recorder) throws -> PersistentContainer {
        try PersistentContainer(
            name: "Cars", entities: Car.self, SportCar.self, Truck.self,
            storeURL: folder.appendingPathComponent("Cars.sqlite"), recorder: recorder)
    }

    /// Returns a context that shares nothing in memory with this store's.
    func otherContext() throws -> ManagedObjectContext {
        try Self.open(folder, .shared).newBackgroundContext()
    }
}
