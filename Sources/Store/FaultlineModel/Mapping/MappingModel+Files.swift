public import Foundation

extension MappingModel {
    /// Loads a mapping model from a file written by Xcode's mapping editor.
    ///
    ///     let versions = try ModelVersions(contentsOf: folder.appendingPathComponent("Moody.xcdatamodeld"))
    ///     let mapping = try MappingModel(
    ///         contentsOf: folder.appendingPathComponent("Moody 4-Moody 5.xcmappingmodel"),
    ///         from: try versions.model("Moody 4"), to: try versions.model("Moody 5"))
    ///
    /// The file leaves much to be derived from the two models:
    ///
    /// - A mapping is named after its entities, as in `PersonToPerson`, or after the newer entity alone if it has no older one.
    ///   A second mapping of that name gets the name `PersonToPerson_2`.
    /// - An attribute without an expression continues the older attribute of its name, if there is one. So does a relationship for
    ///   which the file asks for an expression.
    /// - The hashes are those of the two models' entities.
    ///
    /// An entity without a mapping is not carried over. A property mapping that belongs to no entity mapping is ignored.
    ///
    /// - Parameters:
    ///   - url: A `.xcmappingmodel`, or its file `xcmapping.xml`.
    ///   - source: The older model, whose stores are migrated.
    ///   - destination: The newer model.
    /// - Throws: ``ModelError`` if there is no such file, or if it is not a mapping model. The code is
    ///   ``ModelError/Code/invalidMapping`` if it names an entity, a property or a mapping that does not exist, and
    ///   ``ModelError/Code/invalidExpression`` if an expression cannot be read. Types are not compared.
    public init(
        contentsOf url: URL, from source: ManagedObjectModel, to destination: ManagedObjectModel
    ) throws(ModelError) {
        self = try MappingModel(try MappingFile(url), from: source, to: destination)
    }

    init(
        _ file: MappingFile, from source: ManagedObjectModel, to destination: ManagedObjectModel
    ) throws(ModelError) {
        let mappings = try MappingReader.entityMappings(of: file, from: source, to: destination)
        self.init(entityMappings: mappings)
        origin = MappingOrigin(root: file.root, entityMappings: mappings)
    }

    /// Returns the mapping model as the text of a file `xcmapping.xml`.
    ///
    /// A loaded mapping model is written without loss, except for comments. No other one can be written: the file contains both
    /// models in a form that only Xcode can make.
    ///
    /// - Throws: ``ModelError`` if the mapping model was made in code, or changed since it was loaded.
    public func contents() throws(ModelError) -> String {
        guard let origin else {
            throw ModelError(
                .cannotWrite,
                "The mapping model cannot be written: it did not come from a file, and only Xcode can create one; create it there."
            )
        }
        guard origin.entityMappings == entityMappings else {
            throw ModelError(
                .cannotWrite,
                "The mapping model cannot be written: it was changed after it was loaded; make the changes in Xcode.")
        }
        return origin.document()
    }

    /// Writes the mapping model to a file that Xcode's mapping editor and ``init(contentsOf:from:to:)`` can read.
    ///
    /// - Parameter url: A folder whose name ends in `.xcmappingmodel`, which is created if necessary and whose file
    ///   `xcmapping.xml` is replaced; or a file with any other name.
    /// - Throws: The errors of ``contents()``, and ``ModelError`` if the file cannot be written.
    public func write(to url: URL) throws(ModelError) {
        let isFolder = url.pathExtension == MappingFile.suffix
        try ModelFile.write(
            try contents(), to: url, inFolder: isFolder ? MappingFile.name : nil, "The mapping model")
    }
}
