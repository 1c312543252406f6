import FaultlineModel
import FaultlineReplay
import FaultlineTrace
import Foundation

/// The models that a command-line argument names.
enum ModelArgument {
    /// Loads all versions of a model in an .xcdatamodeld or .momd, the current one first, or the only one of another file.
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
        // Reading a pipe would block. The header: https://www.sqlite.org/fileformat2.html#the_database_header
        guard let descriptor = try? RegularFile.open(path) else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard (try? file.read(upToCount: 16)) == Data("SQLite format 3\0".utf8) else { return nil }
        do {
            guard let model = try ManagedObjectModel.kept(inStoreAt: path) else {
                throw CommandFailure.usage(
                    "The store \"\(path)\" has no readable copy of its model; name a model file.")
            }
            return model
        } catch let error as ReplayError {
            throw CommandFailure.replay(error)
        }
    }

    /// Checks that a store can be migrated to a model or from it, which takes the flag of values in files of their own.
    ///
    /// - Throws: ``CommandFailure`` if Core Data wrote the model without the flag, and an attribute may have it.
    static func checkCompleteness(_ model: ManagedObjectModel, _ path: String) throws {
        guard model.isCoreDataCopy else { return }
        for entity in model.entities {
            for attribute in entity.attributes where attribute.canBeExternal {
                throw CommandFailure.usage(
                    "\"\(path)\" has only Core Data's own form of a model, which does not record whether the values of '\(entity.name).\(attribute.name)' are in external files; name the .xcdatamodeld or .xcdatamodel."
                )
            }
        }
    }
}
