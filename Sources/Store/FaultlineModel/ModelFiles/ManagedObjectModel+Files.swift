public import Foundation

extension ManagedObjectModel {
    /// Loads a model from a file written by Xcode's model editor or by ``write(to:)``, or from a compiled model.
    ///
    ///     let model = try ManagedObjectModel(contentsOf: folder.appendingPathComponent("Groceries.xcdatamodeld"))
    ///
    /// Unknown elements and attributes are ignored, and preserved by ``write(to:)``. A compiled model lacks validation rules, fetched
    /// properties, fetch requests, user info and the flag of attributes whose large values are in files of their own.
    ///
    /// - Parameters:
    ///   - url: A `.xcdatamodeld`, a `.xcdatamodel`, or its file `contents`; a `.momd` or a `.mom`.
    ///   - version: The version in a `.xcdatamodeld` or a `.momd`; by default the current one (see ``ModelVersions/current``).
    /// - Throws: ``ModelError`` if there is no such file or version, if it is not a model, or if the model is invalid;
    ///   see ``init(entities:versionIdentifiers:configurations:fetchRequestTemplates:compositeAttributes:)``.
    public convenience init(contentsOf url: URL, version: String? = nil) throws(ModelError) {
        let file = try ModelFile(url, version: version)
        let data = try ModelFile.data(file.url)
        if PropertyListValue.isBinary(data) {
            try self.init(compiled: data, file: file.url)
            return
        }
        let root = try ModelFile.root(of: data, path: file.path)
        let parts = try ModelParts(root, ModelReader(path: file.path, position: file.position))
        do throws(ModelError) {
            try self.init(parts, file: file.url)
        } catch {
            throw error.located(in: file)
        }
    }

    /// Parses a model from the text of a file `contents`; see ``contents()``.
    ///
    /// - Parameter name: The file's name in errors.
    /// - Throws: The errors of ``init(contentsOf:version:)``.
    package convenience init(contents text: String, name: String) throws(ModelError) {
        let root = try ModelFile.root(of: Data(text.utf8), path: name)
        try self.init(try ModelParts(root, ModelReader(path: name, position: name)))
    }

    private convenience init(_ parts: ModelParts, file: URL? = nil) throws(ModelError) {
        try self.init(
            checking: parts.entities,
            versionIdentifiers: parts.root.attributes["userDefinedModelVersionIdentifier"].map { [$0] } ?? [],
            configurations: parts.configurations, fetchRequestTemplates: parts.templates,
            compositeAttributes: parts.composites, origin: parts.root, file: file)
    }

    /// Returns the model as the text of a file `contents`.
    ///
    /// A loaded model is written without loss, except for comments and the interleaving of elements of different
    /// kinds.
    ///
    /// - Throws: ``ModelError`` if the model has something that a file cannot contain: several version identifiers, or
    ///   a name with control characters.
    public func contents() throws(ModelError) -> String {
        try ModelWriter.element(self).document()
    }

    /// Writes the model to a file that Xcode's model editor and ``init(contentsOf:version:)`` can read.
    ///
    /// - Parameter url: A folder whose name ends in `.xcdatamodel`, which is created if necessary and whose file
    ///   `contents` is replaced; or a file with any other name.
    /// - Throws: ``ModelError`` as ``contents()``, and if the file cannot be written.
    public func write(to url: URL) throws(ModelError) {
        let isFolder = url.pathExtension == "xcdatamodel"
        try ModelFile.write(try contents(), to: url, inFolder: isFolder ? "contents" : nil, "The model")
    }
}

/// The descriptions from a model file, before validation.
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
    /// Returns the error for a model in a file: the message begins with the file and, for a declaration, its line.
    func located(in file: ModelFile) -> ModelError {
        var error = self
        let line = declaredAt.flatMap {
            $0.hasPrefix(file.position + ":") ? $0.dropFirst(file.position.count + 1) : nil
        }
        let text = message.prefix(1).lowercased() + message.dropFirst()
        error.message = "Loading '\(file.path)'\(line.map { ", line \($0)" } ?? ""): \(text)"
        return error
    }
}
