import FaultlineRecorder
import FaultlineStore
import Foundation

/// A store of people in a temporary folder, which is removed with it.
final class PeopleStore {
    let container: PersistentContainer
    let url: URL
    private let folder: ScratchFolder

    /// - Parameters:
    ///   - count: The number of people.
    ///   - other: A store whose people are copied before this one is opened, instead of new ones.
    ///   - keepsRows: Whether the row cache keeps rows that no object uses.
    init(
        count: Int = 0, copying other: PeopleStore? = nil, keepsRows: Bool = false, recorder: Recorder = .off()
    ) throws {
        folder = try ScratchFolder()
        url = URL(fileURLWithPath: folder.path("people.sqlite"))
        if let other {
            // The rows may still be in the write-ahead log.
            for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: other.url.path + suffix) {
                try FileManager.default.copyItem(atPath: other.url.path + suffix, toPath: url.path + suffix)
            }
        }
        var description = PersistentStoreDescription(url: url)
        // The duration of disk writes is not measured.
        description.synchronization = .off
        if !keepsRows { description.rowCacheLimit = 0 }
        container = try PersistentContainer(
            name: "People", managedObjectModel: Person.model(), storeDescription: description,
            classes: [Person.self], recorder: recorder)
        guard count > 0 else { return }
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for values in PersonValues.list(count) { Person(context: context).set(values) }
            try context.save()
        }
    }
}
