import Foundation

/// Finds and reads the file of a model.
struct ModelFile {
    /// The type attribute of Xcode's models.
    static let type = "com.apple.IDECoreDataModeler.DataModel"

    let url: URL

    var path: String { url.path }

    /// The file as named in declarations: its path from the model's folder.
    var position: String {
        let parts = url.pathComponents
        let isFolder = { (part: String) in part.hasSuffix(".xcdatamodeld") || part.hasSuffix(".xcdatamodel") }
        return parts[(parts.firstIndex(where: isFolder) ?? parts.count - 1)...].joined(separator: "/")
    }

    /// Finds the file of the model at a URL.
    ///
    /// - Parameter url: A `.xcdatamodeld` or `.momd` with versions, a `.xcdatamodel`, its file `contents`, or a `.mom`.
    init(_ url: URL, version: String?) throws(ModelError) {
        if try !Self.isFolder(url) {
            self.url = try Self.unoptimized(url)
        } else if FileManager.default.fileExists(atPath: url.appendingPathComponent("contents").path) {
            self.url = url.appendingPathComponent("contents")
        } else {
            try Self.checkAge(url)
            let versions = try ModelVersions(contentsOf: url)
            let name = if let version { version } else { try versions.current }
            let found = try versions.url(of: name)
            try Self.checkAge(found)
            self.url = versions.isCompiled ? found : found.appendingPathComponent("contents")
            return
        }
        if let version {
            throw ModelError(
                .unknownVersion,
                "'\(url.path)' is a single version of a model, so the version '\(version)' cannot be chosen; name the .xcdatamodeld that contains it."
            )
        }
    }

    /// Checks that a later Xcode than version 3 saved a `.xcdatamodel`.
    private static func checkAge(_ url: URL) throws(ModelError) {
        let has = { FileManager.default.fileExists(atPath: url.appendingPathComponent($0).path) }
        guard has("elements"), !has("contents") else { return }
        throw ModelError(
            .notAModel,
            "'\(url.path)' was saved by Xcode 3, in a form that only Xcode can read; save it with a later Xcode, which writes a file 'contents'."
        )
    }

    /// Returns the compiled model beside Core Data's optimized copy of it, or the URL itself if it is no such copy.
    private static func unoptimized(_ url: URL) throws(ModelError) -> URL {
        guard url.pathExtension == "omo" else { return url }
        let original = url.deletingPathExtension().appendingPathExtension("mom")
        guard FileManager.default.fileExists(atPath: original.path) else {
            throw ModelError(
                .notAModel,
                "'\(url.path)' is Core Data's optimized copy of a compiled model, which only Core Data can read, and '\(original.lastPathComponent)' is not beside it; name a .mom or the .xcdatamodeld."
            )
        }
        return original
    }

    /// Returns the root element of a model's XML.
    ///
    /// - Parameter path: The file's name in errors.
    static func root(of data: Data, path: String) throws(ModelError) -> ModelElement {
        let root: ModelElement
        do throws(ModelElementParser.Failure) {
            root = try ModelElementParser.parse(data)
        } catch {
            throw ModelError(error.code, "'\(path)' \(error.text); name the contents of a .xcdatamodel.")
        }
        guard root.name == "model", root.attributes["type", default: type] == type else {
            let what =
                root.name == "model"
                ? "its model has the type '\(root.attributes["type"] ?? "")'"
                : "its outermost element is '\(root.name)', not 'model'"
            throw ModelError(
                .notAModel, "'\(path)' is XML, but not a data model: \(what); name the contents of a .xcdatamodel.")
        }
        return root
    }

    // MARK: - Files

    private static let wanted = "a .xcdatamodeld or a .xcdatamodel"

    /// Whether the URL names a folder rather than a file.
    ///
    /// - Parameter wanted: The files to name instead, in errors.
    static func isFolder(_ url: URL, wanted: String = Self.wanted) throws(ModelError) -> Bool {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
            throw ModelError(.cannotRead, "'\(url.path)' does not exist; name \(wanted).")
        }
        return isFolder.boolValue
    }

    /// Writes a text to a file, or to a file in a folder, which is created if necessary.
    ///
    /// - Parameters:
    ///   - name: The name of the file in the folder; `nil` if the URL is the file's.
    ///   - subject: The name of the written thing, in errors.
    static func write(
        _ text: String, to url: URL, inFolder name: String?, _ subject: String
    ) throws(ModelError) {
        let file = name.map { url.appendingPathComponent($0) } ?? url
        do {
            if name != nil { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
            try Data(text.utf8).write(to: file, options: .atomic)
        } catch {
            throw ModelError(
                .cannotWrite,
                "\(subject) cannot be written to '\(file.path)'; check that its folder exists and that this user may write to it."
            )
        }
    }

    /// Returns the bytes of a file that is within the size limit.
    static func data(_ url: URL, wanted: String = Self.wanted) throws(ModelError) -> Data {
        // Reading a device or a pipe might never end.
        let resolved = url.resolvingSymlinksInPath()
        let attributes = try? FileManager.default.attributesOfItem(atPath: resolved.path)
        guard let attributes else {
            throw ModelError(.cannotRead, "'\(url.path)' does not exist; name \(wanted).")
        }
        guard attributes[.type] as? FileAttributeType == .typeRegular else {
            throw ModelError(.cannotRead, "'\(url.path)' is not a regular file; name another.")
        }
        let limit = ModelElementParser.Limit.bytes
        guard let size = (attributes[.size] as? NSNumber)?.intValue, size <= limit else {
            throw ModelError(
                .tooLarge, "'\(url.path)' is larger than \(limit >> 20) MiB, which no model is; name another file.")
        }
        do {
            return try Data(contentsOf: resolved)
        } catch {
            throw ModelError(.cannotRead, "'\(url.path)' cannot be read; check that this user may read it.")
        }
    }
}
