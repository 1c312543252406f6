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

    func error(_ code: ModelError.Code, _ object: Object, _ text: String) -> ModelError {
        ModelError(code, "Loading '\(path)', line \(object.element.line): \(text).")
    }
}
