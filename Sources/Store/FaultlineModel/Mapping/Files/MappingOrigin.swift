/// The file that a mapping model came from: its element, and the mappings that were read from it.
///
/// All origins compare equal, because the origin is not part of the mapping model.
struct MappingOrigin: Sendable {
    let root: ModelElement
    let entityMappings: [EntityMapping]

    /// Returns the name of a model version that the file was made for: `Moody 2.xcdatamodel`.
    ///
    /// - Parameter attribute: `sourcemodelpath` or `destinationmodelpath`.
    func modelName(_ attribute: String) -> String? {
        MappingFile.modelName(attribute, in: root)
    }
}

extension MappingOrigin: Hashable {
    static func == (left: MappingOrigin, right: MappingOrigin) -> Bool { true }

    func hash(into hasher: inout Hasher) {}
}
