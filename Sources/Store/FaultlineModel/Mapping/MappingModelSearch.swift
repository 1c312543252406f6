public import Foundation

/// The mapping models among several files that fit two models.
///
///     let search = MappingModelSearch(urls, from: old, to: new)
///     for misfit in search.misfits { print(misfit.error) }
///     if let mapping = try search.mappingModel { … }
///
/// A file fits if the models have all entities, properties and mappings that it names. Types, and what the file does not name,
/// are not compared.
public struct MappingModelSearch: Sendable, Hashable {
    /// A file that fits.
    public struct Match: Sendable, Hashable {
        /// The file, as it was given.
        public let url: URL
        /// The mapping model in the file.
        public let mappingModel: MappingModel
        /// The concrete entities of both models that the file does not map, in alphabetical order; their objects are not carried
        /// over.
        public let unmappedEntities: [String]
    }

    /// A file that does not fit, or cannot be read.
    public struct Misfit: Sendable, Hashable {
        /// The file, as it was given.
        public let url: URL
        /// The first reason, as ``MappingModel/init(contentsOf:from:to:)`` throws it.
        public let error: ModelError
    }

    /// The files that fit, in the order in which they were given.
    public let matches: [Match]
    /// The files that do not fit, in the order in which they were given.
    public let misfits: [Misfit]
    /// The matches that were made for the versions that the two models were loaded from.
    private let namesakes: [Match]

    /// Reads the files and compares them with two models.
    ///
    /// - Parameters:
    ///   - urls: Folders whose names end in `.xcmappingmodel`, or their files `xcmapping.xml`.
    ///   - source: The older model.
    ///   - destination: The newer model.
    /// - Complexity: Reads every file.
    public init(_ urls: [URL], from source: ManagedObjectModel, to destination: ManagedObjectModel) {
        var (matches, misfits, namesakes): ([Match], [Misfit], [Match]) = ([], [], [])
        for url in urls {
            do throws(ModelError) {
                let mapping = try MappingModel(contentsOf: url, from: source, to: destination)
                let mapped = Set(mapping.entityMappings.compactMap(\.destinationEntityName))
                let unmapped = destination.entities.filter { entity in
                    !entity.isAbstract && !mapped.contains(entity.name)
                        && source.entity(named: entity.name)?.isAbstract == false
                }
                let match = Match(
                    url: url, mappingModel: mapping, unmappedEntities: unmapped.map(\.name).sorted())
                matches.append(match)
                if mapping.names(source, destination) { namesakes.append(match) }
            } catch {
                misfits.append(Misfit(url: url, error: error))
            }
        }
        (self.matches, self.misfits, self.namesakes) = (matches, misfits, namesakes)
    }

    /// The mapping model that fits, or `nil` if none does.
    ///
    /// If several fit, it is the one that Xcode made for the versions that both models were loaded from, such as
    /// `Moody 2.xcdatamodel`.
    ///
    /// - Throws: ``ModelError`` with the code ``ModelError/Code/ambiguousMapping`` if several fit and the versions do not decide.
    public var mappingModel: MappingModel? {
        get throws(ModelError) {
            let fitting = namesakes.count == 1 ? namesakes : matches
            guard fitting.count < 2 else {
                let paths = fitting.map { "'\($0.url.path)'" }.joined(separator: " and ")
                throw ModelError(
                    .ambiguousMapping,
                    "\(fitting.count) mapping models fit the two models: \(paths); load the right one by its name.")
            }
            return fitting.first?.mappingModel
        }
    }
}

extension MappingModel {
    /// Loads the mapping model, among several files, that fits two models; `nil` if none does.
    ///
    /// ``MappingModelSearch`` reports why a file does not fit, and which entities a mapping model leaves out.
    ///
    ///     let mapping = try MappingModel(from: urls, forSourceModel: old, destinationModel: new)
    ///
    /// - Throws: The errors of ``MappingModelSearch/mappingModel``. A file that cannot be read is not an error.
    public init?(
        from urls: [URL], forSourceModel source: ManagedObjectModel, destinationModel destination: ManagedObjectModel
    ) throws(ModelError) {
        guard let found = try MappingModelSearch(urls, from: source, to: destination).mappingModel else { return nil }
        self = found
    }
}

extension MappingModel {
    /// Loads a mapping model for the two versions, among several, between which it leads.
    ///
    ///     description.sourceModels = versions
    ///     description.mappingModels = try urls.map { try MappingModel(contentsOf: $0, between: versions + [model]) }
    ///
    /// If it fits several pairs, it is loaded for the pair that Xcode made it for.
    ///
    /// - Parameters:
    ///   - url: A `.xcmappingmodel`, or its file `xcmapping.xml`.
    ///   - versions: At least two versions, from the oldest to the newest.
    /// - Throws: ``ModelError`` if the file cannot be read or fits no pair; the reason is the one for the oldest and the
    ///   newest version. The code is ``ModelError/Code/ambiguousMapping`` if it fits several pairs and their names do not decide.
    /// - Complexity: Compares the file with each pair.
    public init(contentsOf url: URL, between versions: [ManagedObjectModel]) throws(ModelError) {
        guard versions.count > 1 else {
            throw ModelError(
                .invalidMapping,
                "The mapping model '\(url.path)' leads from one version to another one, but fewer than two were passed; pass all versions."
            )
        }
        let file = try MappingFile(url)
        var (found, namesakes): ([MappingModel], [MappingModel]) = ([], [])
        for (position, old) in versions.enumerated() {
            for new in versions.dropFirst(position + 1) {
                guard let mapping = try? MappingModel(file, from: old, to: new) else { continue }
                found.append(mapping)
                if mapping.names(old, new) { namesakes.append(mapping) }
            }
        }
        let fitting = namesakes.count == 1 ? namesakes : found
        guard fitting.count < 2 else {
            throw ModelError(
                .ambiguousMapping,
                "The mapping model '\(url.path)' fits \(fitting.count) pairs of versions; load it for the two that it was made for."
            )
        }
        guard let only = fitting.first else {
            self = try MappingModel(file, from: versions[0], to: versions[versions.count - 1])
            return
        }
        self = only
    }

    /// Whether Xcode made the mapping model for the versions that two models were loaded from.
    fileprivate func names(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> Bool {
        guard let origin, let old = source.versionName, let new = destination.versionName else { return false }
        return origin.modelName("sourcemodelpath") == old && origin.modelName("destinationmodelpath") == new
    }
}

extension ManagedObjectModel {
    /// The name of the folder that the model was loaded from, such as `Moody 2.xcdatamodel`; `nil` for a model made in code.
    fileprivate var versionName: String? {
        guard origin != nil else { return nil }
        return entities.first?.declaredAt.split(separator: "/").last { $0.hasSuffix(".xcdatamodel") }.map(String.init)
    }
}
