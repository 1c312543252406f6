import FaultlineEntities
import FaultlineRecorder
import FaultlineTrace
import Foundation
import TestFolders

/// A filled store with a recorder of its own.
final class PantryStore {
    private let folder: URL
    private let recorder = Recorder.memory()
    let context: ManagedObjectContext

    init() throws {
        folder = try TestFolder.make()
        context = try PersistentContainer(
            name: "Pantry", entities: Pantry.Item.self, Pantry.Tool.self,
            storeURL: folder.appendingPathComponent("Pantry.sqlite"), recorder: recorder
        ).newBackgroundContext()
        try Pantry.fill(context)
    }

    deinit {
        try? FileManager.default.removeItem(at: folder)
    }

    /// Returns the names of the selected items, and the statement that found them.
    func select(_ predicate: FetchPredicate) throws -> (names: [String], sql: String?) {
        let before = statements().count
        let items = try context.fetch(
            FetchRequest<Pantry.Item>(
                predicate: predicate, sortDescriptors: [.ascending("kind"), .ascending("amount")]))
        let names = items.map(\.name)
        return (
            names.sorted {
                $0.folding(options: .diacriticInsensitive, locale: nil)
                    < $1.folding(options: .diacriticInsensitive, locale: nil)
            }, statements().dropFirst(before).first
        )
    }

    /// Returns the read statements so far.
    func statements() -> [String] {
        var dictionary = TraceDictionary()
        var statements: [DictionaryID] = []
        for message in recorder.messages() {
            switch message {
            case .entry(_, let id, let entry): dictionary.insert(entry, id: id)
            case .event(let event):
                if case .sql(let statement) = event.detail, statement.type == .read {
                    statements.append(statement.statement)
                }
            default: break
            }
        }
        return statements.compactMap { dictionary.statement($0)?.sql }
    }
}
