import FaultlineModel
import Foundation

/// Loads a model that the command line names.
enum ModelArgument {
    /// Loads all versions of a model in an .xcdatamodeld, the current one first.
    ///
    /// - Throws: ``CommandFailure`` if it is not a model.
    static func load(_ path: String) throws -> [ManagedObjectModel] {
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
}
