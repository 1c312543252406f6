import FaultlineModel
import Foundation

/// A model that is named on the command line.
enum ModelArgument {
    /// Loads it: all versions that a .xcdatamodeld has, the current one first.
    ///
    /// - Throws: ``CommandFailure`` if it is none.
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
