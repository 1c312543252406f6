internal import Foundation

/// The file of a mapping model: the objects of Xcode's mapping editor, with their attributes and references.
struct MappingFile: Sendable {
    /// The kinds of objects, with the attributes that are known to have no other meaning.
    enum Kind: String, CaseIterable {
        case model = "XDDEVMAPPINGMODEL"
        case entity = "XDDEVENTITYMAPPING"
        case attribute = "XDDEVATTRIBUTEMAPPING"
        case relationship = "XDDEVRELATIONSHIPMAPPING"
    }

    /// An object of the file.
    struct Object {
        let element: ModelElement

        var kind: Kind? { element.attributes["type"].flatMap(Kind.init) }
        var id: String { element.attributes["id"] ?? "" }

        /// Returns the text of an attribute, or `nil` if it is missing or empty.
        func text(_ name: String) -> String? {
            let found = element.children("attribute").first { $0.attributes["name"] == name }?.attributes[""]
            return found == "" ? nil : found
        }

        /// Returns the IDs of the objects that a relationship leads to.
        func references(_ name: String) -> [String] {
            let found = element.children("relationship").first { $0.attributes["name"] == name }
            return (found?.attributes["idrefs"] ?? "").split(whereSeparator: \.isWhitespace).map(String.init)
        }

        /// The source and the destination of an entity mapping, with the name that the editor shows; `nil` if it has neither.
        func entities(besides names: [String]) -> (name: String, from: String?, to: String?)? {
            let (from, to) = (text("sourcename"), text("destinationname"))
            guard let first = to ?? from else { return nil }
            let base = from.flatMap { from in to.map { "\(from)To\($0)" } } ?? first
            let other = names.contains(base) ? (2...).lazy.map { "\(base)_\($0)" }.first { !names.contains($0) } : nil
            return (other ?? base, from, to)
        }

        /// Whether the editor makes the expression, or `nil` if it does not say so.
        var isAutomatic: Bool? { text("autogenerateexpression").flatMap(FileValue.flag) }

        /// The expression that a property mapping has as an archive, or `nil`.
        var storedExpression: MappingExpression? {
            get throws(ArchiveFailure) {
                guard let text = text("valueexpressiondata") else { return nil }
                guard let data = Data(base64Encoded: text.filter { !$0.isWhitespace }) else {
                    throw ArchiveFailure("is not base64")
                }
                return try ExpressionArchive.expression(data)
            }
        }

        /// The names of all attributes that have a value.
        var attributeNames: [String] {
            element.children("attribute").filter { $0.attributes["", default: ""] != "" }.compactMap {
                $0.attributes["name"]
            }
        }
    }

    static let name = "xcmapping.xml"
    static let suffix = "xcmappingmodel"
    private static let wanted = "a .xcmappingmodel"

    let path: String
    let root: ModelElement

    /// - Parameter url: A `.xcmappingmodel`, or its file `xcmapping.xml`.
    init(_ url: URL) throws(ModelError) {
        if url.pathExtension == "cdm" {
            throw ModelError(
                .notAModel,
                "'\(url.path)' is a compiled mapping model, which only Core Data can read; name the .xcmappingmodel that it was compiled from."
            )
        }
        var file = url
        if try ModelFile.isFolder(url, wanted: Self.wanted) {
            file = url.appendingPathComponent(Self.name)
            guard FileManager.default.fileExists(atPath: file.path) else {
                throw ModelError(
                    .notAModel,
                    "'\(url.path)' is not a mapping model: it has no file '\(Self.name)'; name \(Self.wanted).")
            }
        }
        path = file.path
        let data = try ModelFile.data(file, wanted: Self.wanted)
        do throws(ModelElementParser.Failure) {
            root = try ModelElementParser.parse(data, wantsText: true)
        } catch {
            throw ModelError(error.code, "'\(file.path)' \(error.text); name \(Self.wanted).")
        }
        guard root.name == "database" else {
            throw ModelError(
                .notAModel,
                "'\(path)' is XML, but not a mapping model: its outermost element is '\(root.name)', not 'database'; name \(Self.wanted)."
            )
        }
    }

    /// Returns the objects by ID.
    func objects() throws(ModelError) -> [String: Object] {
        var objects: [String: Object] = [:]
        for element in root.children("object") {
            let object = Object(element: element)
            guard objects.updateValue(object, forKey: object.id) == nil else {
                throw error(
                    .malformedFile, object,
                    "two objects have the ID '\(object.id)'; save the mapping model again in Xcode")
            }
        }
        return objects
    }

    /// Returns the entity mappings in the order of their numbers.
    ///
    /// - Parameter objects: The objects by ID.
    func entityMappings(_ objects: [String: Object]) throws(ModelError) -> [Object] {
        let models = root.children("object").map(Object.init).filter { $0.kind == .model }
        guard models.count == 1 else {
            throw ModelError(
                .malformedFile,
                "Loading '\(path)': the file has \(models.count) mapping models instead of one; save it again in Xcode."
            )
        }
        var numbered: [(number: Int, object: Object)] = []
        for object in try references(models[0], "entitymappings", .entity, objects) {
            guard let number = Int(object.text("mappingnumber") ?? "0") else {
                throw error(
                    .malformedFile, object,
                    "an entity mapping has the number '\(object.text("mappingnumber") ?? "")'; save the mapping model again in Xcode"
                )
            }
            numbered.append((number, object))
        }
        return numbered.enumerated().sorted { ($0.element.number, $0.offset) < ($1.element.number, $1.offset) }.map(
            \.element.object)
    }

    /// Returns the objects that a relationship of an object leads to.
    func references(
        _ object: Object, _ name: String, _ kind: Kind, _ objects: [String: Object]
    ) throws(ModelError) -> [Object] {
        try object.references(name).map { id throws(ModelError) in
            guard let found = objects[id], found.kind == kind else {
                throw error(
                    .malformedFile, object,
                    "'\(name)' refers to '\(id)', but the file has no such object of the type \(kind.rawValue); save the mapping model again in Xcode"
                )
            }
            return found
        }
    }

    /// Returns the name of a model version that the file was made for: `Moody 2.xcdatamodel`.
    ///
    /// - Parameter attribute: `sourcemodelpath` or `destinationmodelpath`.
    static func modelName(_ attribute: String, in root: ModelElement) -> String? {
        let model = root.children("object").map(Object.init).first { $0.kind == .model }
        return model?.text(attribute)?.split(separator: "/").last.map(String.init)
    }

    func error(_ code: ModelError.Code, _ object: Object, _ text: String) -> ModelError {
        ModelError(code, "Loading '\(path)', line \(object.element.line): \(text).")
    }
}
