import FaultlineModel
import FaultlineStore
import Foundation

/// The models that a command-line argument names.
enum ModelArgument {
    /// Loads all versions of a model in an .xcdatamodeld, the current one first, or the only one of another file.
    ///
    /// - Throws: ``CommandFailure`` if it is not a model.
    static func load(_ path: String) throws -> [ManagedObjectModel] {
        if let model = try ofStore(path) { return [model] }
        let url = URL(fileURLWithPath: path)
        do {
            let current = try ManagedObjectModel(contentsOf: url)
            guard let versions = try? ModelVersions(contentsOf: url), let name = try? versions.current else {
                return [current]
            }
            return [current] + versions.names.filter { $0 != name }.compactMap { try? versions.model($0) }
        } catch {
            throw CommandFailure.usage("\(error)")
        }
    }

    /// Returns the model that a store keeps, or `nil` if the file is not an SQLite file.
    ///
    /// - Throws: ``CommandFailure`` if it is another database, or a store without a readable copy of its model.
    static func ofStore(_ path: String) throws -> ManagedObjectModel? {
        // https://www.sqlite.org/fileformat2.html#the_database_header
        guard let file = FileHandle(forReadingAtPath: path),
            (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
        else { return nil }
        do {
            let model = try PersistentStoreCoordinator.keptModel(ofStoreAt: URL(fileURLWithPath: path))
            guard let model else {
                throw CommandFailure.usage("The store '\(path)' has no readable copy of its model; name a model file.")
            }
            return model
        } catch let error as StoreError {
            throw CommandFailure.usage("\(error)")
        }
    }
}
