public import Foundation

/// The versions of a model in a `.xcdatamodeld`, or compiled in a `.momd`.
///
///     let versions = try ModelVersions(contentsOf: url)
///     let old = try versions.model("Moody 3")
public struct ModelVersions: Sendable {
    /// The folder of the versions.
    public let url: URL
    /// The names of all versions, without `.xcdatamodel` or `.mom`, in alphabetical order.
    public let names: [String]
    /// Whether the versions are compiled.
    let isCompiled: Bool

    /// Lists the versions in a folder, without reading them.
    ///
    /// - Throws: ``ModelError`` if there is no such folder, or if it contains no `.xcdatamodel` and no `.mom`.
    public init(contentsOf url: URL) throws(ModelError) {
        self.url = url
        guard try ModelFile.isFolder(url) else {
            throw ModelError(.notAModel, "'\(url.path)' is a file and has no versions; name a .xcdatamodeld.")
        }
        guard let entries = try? FileManager.default.contentsOfDirectory(atPath: url.path) else {
            throw ModelError(.cannotRead, "'\(url.path)' cannot be read; check that this user may read it.")
        }
        let isCompiled =
            !entries.contains { $0.hasSuffix(Self.source) } && entries.contains { $0.hasSuffix(Self.compiled) }
        let suffix = isCompiled ? Self.compiled : Self.source
        self.isCompiled = isCompiled
        names = entries.filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) }.sorted()
        guard !names.isEmpty else {
            throw ModelError(
                .notAModel,
                "'\(url.path)' is not a model: it has neither a file 'contents' nor a folder whose name ends in .xcdatamodel; name a .xcdatamodeld or a .xcdatamodel."
            )
        }
    }

    private static let source = ".xcdatamodel"
    private static let compiled = ".mom"
    private var suffix: String { isCompiled ? Self.compiled : Self.source }

    /// The name of the version that programs are built with.
    ///
    /// It is the one that `.xccurrentversion` names, or `VersionInfo.plist` among compiled versions. If that names none, it is the only version, or the one named like
    /// the folder.
    ///
    /// - Throws: ``ModelError`` if that file cannot be read or names a version that does not exist, or if
    ///   the current version cannot be determined.
    public var current: String {
        get throws(ModelError) {
            let file = url.appendingPathComponent(isCompiled ? "VersionInfo.plist" : ".xccurrentversion")
            if FileManager.default.fileExists(atPath: file.path), let name = try currentName(file) {
                guard let found = names.first(where: { $0 + (isCompiled ? "" : suffix) == name }) else {
                    throw ModelError(
                        .unknownVersion,
                        "'\(file.path)' names '\(name)' as the current version, which does not exist; \(choices)")
                }
                return found
            }
            if names.count == 1 { return names[0] }
            let own = url.deletingPathExtension().lastPathComponent
            guard names.contains(own) else {
                throw ModelError(
                    .unknownVersion,
                    "'\(url.path)' does not specify which of its versions is current; \(choices)")
            }
            return own
        }
    }

    /// Returns the folder of the named version, or its file if it is compiled; the name may have their suffix.
    ///
    /// - Throws: ``ModelError`` if there is no such version.
    public func url(of name: String) throws(ModelError) -> URL {
        guard let found = names.first(where: { $0 == name || $0 + suffix == name }) else {
            throw ModelError(.unknownVersion, "'\(url.path)' has no version '\(name)'; \(choices)")
        }
        return url.appendingPathComponent(found + suffix, isDirectory: !isCompiled)
    }

    /// Loads the named version.
    ///
    /// - Throws: The errors of ``ManagedObjectModel/init(contentsOf:version:)``.
    public func model(_ name: String) throws(ModelError) -> ManagedObjectModel {
        try ManagedObjectModel(contentsOf: try url(of: name))
    }

    private var choices: String {
        "choose one of \(names.map { "'\($0)'" }.joined(separator: ", "))."
    }

    /// Returns the version that a property list names, or `nil`.
    private func currentName(_ file: URL) throws(ModelError) -> String? {
        let key = isCompiled ? "NSManagedObjectModel_CurrentVersionName" : "_XCCurrentVersionName"
        let remedy = "let Xcode \(isCompiled ? "compile the model" : "write it") again, or choose a version."
        let list: PropertyListValue
        do throws(ArchiveFailure) {
            list = try PropertyListValue(try data(file), limit: PropertyListValue.Limit.metadata)
        } catch {
            throw ModelError(.notAModel, "'\(file.path)' \(error.text); \(remedy)")
        }
        guard let values = list.dictionary else {
            throw ModelError(.notAModel, "'\(file.path)' is not a property list of names and values; \(remedy)")
        }
        return values[key]?.string
    }

    private func data(_ file: URL) throws(ArchiveFailure) -> Data {
        do throws(ModelError) {
            return try ModelFile.data(file)
        } catch {
            throw ArchiveFailure("cannot be read")
        }
    }
}

extension ModelVersions {
    /// Returns the names of the versions that a store with some metadata was written with; several if they have equal hashes.
    ///
    /// Versions that cannot be loaded are left out. Stores of Apple's framework have hashes that only Apple can compute, so none
    /// fits by its metadata; `PersistentStoreCoordinator.fits(_:storeAt:)` compares their tables.
    ///
    /// - Complexity: Loads every version.
    public func names(compatibleWithStoreMetadata metadata: [String: any Sendable]) -> [String] {
        names.filter { name in
            guard let model = try? model(name) else { return false }
            return model.isConfiguration(withName: nil, compatibleWithStoreMetadata: metadata)
        }
    }
}

extension ManagedObjectModel {
    /// The other versions in the `.xcdatamodeld` or `.momd` that the model was loaded from; none for other models.
    ///
    /// Versions that cannot be loaded are left out.
    ///
    /// - Complexity: Loads each version when it is reached, so a search should end with the version that it wants.
    package var siblings: some Sequence<ManagedObjectModel> {
        // The version is a file in a folder with the others, or a folder of its own.
        let version = file.map { $0.pathExtension == "mom" ? $0 : $0.deletingLastPathComponent() }
        let versions = version.flatMap { try? ModelVersions(contentsOf: $0.deletingLastPathComponent()) }
        let own = version?.deletingPathExtension().lastPathComponent
        return (versions?.names ?? []).lazy.filter { $0 != own }.compactMap { try? versions?.model($0) }
    }
}
