import FaultlineModel
import Foundation

/// A model that is named on the command line.
enum ModelArgument {
    /// Loads it.
    ///
    /// - Throws: ``CommandFailure`` if it is none.
    static func load(_ path: String) throws -> ManagedObjectModel {
        do {
            return try ManagedObjectModel(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CommandFailure.usage("\(error)")
        }
    }
}
