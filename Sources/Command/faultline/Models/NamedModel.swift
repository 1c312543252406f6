import FaultlineModel
import FaultlineTrace
import Foundation

/// A version of a model that the command line names, with the name under which it is shown.
struct NamedModel {
    /// The name of the version, such as `Moody 2`.
    let name: String
    let model: ManagedObjectModel

    /// Loads the version that a path names: an .xcdatamodel, its file contents or a .mom; an .xcdatamodeld or a .momd for its
    /// current version; or a store for the version that it was written with.
    ///
    /// - Throws: ``CommandFailure`` if it is not a model.
    init(path: String) throws {
        let url = URL(fileURLWithPath: path)
        if let model = try ModelArgument.ofStore(path) {
            self.init(name: url.lastPathComponent, model: model)
            return
        }
        do {
            let model = try ManagedObjectModel(contentsOf: url)
            let version = Self.hasVersions(url) ? try ModelVersions(contentsOf: url).current : nil
            let folder = url.lastPathComponent == "contents" ? url.deletingLastPathComponent() : url
            self.init(name: version ?? folder.deletingPathExtension().lastPathComponent, model: model)
        } catch {
            throw CommandFailure.usage("\(error)")
        }
    }

    private init(name: String, model: ManagedObjectModel) {
        (self.name, self.model) = (name, model)
    }

    private static func hasVersions(_ url: URL) -> Bool { ["xcdatamodeld", "momd"].contains(url.pathExtension) }

    /// Loads all versions that a path names: those of an .xcdatamodeld or .momd in the order of their numbers, or the only one.
    ///
    /// - Throws: ``CommandFailure`` if one of them is not a model.
    static func all(path: String) throws -> [NamedModel] {
        let url = URL(fileURLWithPath: path)
        guard hasVersions(url) else { return [try NamedModel(path: path)] }
        do {
            let versions = try ModelVersions(contentsOf: url)
            let names = versions.names.ordered { $0.compare($1, options: .numeric) == .orderedAscending }
            return try names.map { NamedModel(name: $0, model: try versions.model($0)) }
        } catch {
            throw CommandFailure.usage("\(error)")
        }
    }
}
