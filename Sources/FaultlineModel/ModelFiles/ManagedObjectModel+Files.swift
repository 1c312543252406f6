public import Foundation

extension ManagedObjectModel {
    /// Loads a model from a file that Xcode's model editor has written, or ``write(to:)``.
    ///
    ///     let model = try ManagedObjectModel(contentsOf: folder.appendingPathComponent("Groceries.xcdatamodeld"))
    ///
    /// Elements and attributes that are not known are passed over, and written again by ``write(to:)``.
    ///
    /// - Parameters:
    ///   - url: a `.xcdatamodeld`, a `.xcdatamodel`, or its file `contents`.
    ///   - version: which version of a `.xcdatamodeld`; without one, the current one (see ``ModelVersions/current``).
    /// - Throws: ``ModelError`` if there is no such file or version, it is no model's, or the model is wrong; see
    ///   ``init(entities:versionIdentifiers:configurations:fetchRequestTemplates:compositeAttributes:)``.
    public convenience init(contentsOf url: URL, version: String? = nil) throws(ModelError) {
        let file = try ModelFile(url, version: version)
        let parts = try ModelParts(try file.read(), ModelReader(path: file.path, place: file.place))
        do throws(ModelError) {
            try self.init(parts)
        } catch {
            throw error.located(in: file)
        }
    }

    /// Reads a model from the text of a file `contents`; see ``contents()``.
    ///
    /// - Parameter name: What errors call it.
    /// - Throws: as ``init(contentsOf:version:)``.
    package convenience init(contents text: String, name: String) throws(ModelError) {
        let root = try ModelFile.root(of: Data(text.utf8), path: name)
        try self.init(try ModelParts(root, ModelReader(path: name, place: name)))
    }

    private convenience init(_ parts: ModelParts) throws(ModelError) {
        try self.init(
            checking: parts.entities,
            versionIdentifiers: parts.root.attributes["userDefinedModelVersionIdentifier"].map { [$0] } ?? [],
            configurations: parts.configurations, fetchRequestTemplates: parts.templates,
            compositeAttributes: parts.composites, origin: parts.root)
    }

    /// The model as the text of a file `contents`.
    ///
    /// A model that was loaded is printed without loss, but for comments and the order of elements of different kinds
    /// that were mixed.
    ///
    /// - Throws: ``ModelError`` if the model has something that a file cannot hold: several version identifiers, or
    ///   a name with control characters.
    public func contents() throws(ModelError) -> String {
        try ModelWriter.element(self).document()
    }

    /// Writes the model to a file that Xcode's model editor and ``init(contentsOf:version:)`` read.
    ///
    /// - Parameter url: a folder whose name ends in `.xcdatamodel`, which is made if it is not there and whose file
    ///   `contents` is replaced; or any other name, for that file itself.
    /// - Throws: ``ModelError`` as ``contents()``, and if the file cannot be written.
    public func write(to url: URL) throws(ModelError) {
        let text = try contents()
        let isFolder = url.pathExtension == "xcdatamodel"
        let file = isFolder ? url.appendingPathComponent("contents") : url
        do {
            if isFolder { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
            try Data(text.utf8).write(to: file, options: .atomic)
        } catch {
            throw ModelError(
                .cannotWrite,
                "The model cannot be written to '\(file.path)'; check that its folder is there and that this user may write to it."
            )
        }
    }
}

/// What the elements of a model's file describe, not checked yet.
private struct ModelParts {
    let root: ModelElement
    var entities: [EntityDescription] = []
    var configurations: [ConfigurationDescription] = []
    var templates: [FetchRequestTemplate] = []
    var composites: [CompositeAttributeDescription] = []

    init(_ root: ModelElement, _ reader: ModelReader) throws(ModelError) {
        self.root = root
        for element in root.children {
            switch element.name {
            case "entity": entities.append(try reader.entity(element))
            case "configuration": configurations.append(try reader.configuration(element))
            case "fetchRequest": templates.append(try reader.fetchRequest(element))
            case "compositeAttribute": composites.append(try reader.composite(element))
            default: break
            }
        }
    }
}

extension ModelError {
    /// The error of a model in a file: it begins with the file and, if it is about a declaration, with its line.
    func located(in file: ModelFile) -> ModelError {
        var error = self
        let line = declaredAt.flatMap { $0.hasPrefix(file.place + ":") ? $0.dropFirst(file.place.count + 1) : nil }
        let text = message.prefix(1).lowercased() + message.dropFirst()
        error.message = "Loading '\(file.path)'\(line.map { ", line \($0)" } ?? ""): \(text)"
        return error
    }
}
