package import FaultlineDocuments

/// A model as a diagram: its entities as boxes with their properties, and lines between them, with the changes marked.
package struct ModelDiagram: Sendable {
    /// The change of a part of the model.
    package enum Mark: String, Sendable {
        case added, removed, changed
    }

    /// An attribute or a relationship.
    package struct Property: Sendable {
        package var name: String
        /// Its type or its destination, with its settings.
        package var words: String
        package var isRelationship: Bool
        package var mark: Mark?
        /// The changes, as sentences.
        package var changes: [String] = []

        package init(name: String, words: String, isRelationship: Bool) {
            (self.name, self.words, self.isRelationship) = (name, words, isRelationship)
        }
    }

    package struct Entity: Sendable {
        package var name: String
        package var parent: String?
        package var isAbstract: Bool
        package var properties: [Property] = []
        package var mark: Mark?
        /// The changes of the entity itself, as sentences.
        package var changes: [String] = []
        /// The objects that a store has of it: `125 objects, kept`.
        package var objects: String?

        package init(name: String, parent: String?, isAbstract: Bool) {
            (self.name, self.parent, self.isAbstract) = (name, parent, isAbstract)
        }
    }

    /// A relationship with its inverse.
    package struct Line: Sendable {
        package var source: String
        package var destination: String
        package var name: String
        package var inverse: String?
        package var isToMany: Bool
        /// Whether the inverse is to-many.
        package var comesFromMany: Bool
        package var mark: Mark?

        package init(
            source: String, destination: String, name: String, inverse: String?, isToMany: Bool, comesFromMany: Bool
        ) {
            (self.source, self.destination, self.name, self.inverse) = (source, destination, name, inverse)
            (self.isToMany, self.comesFromMany) = (isToMany, comesFromMany)
        }
    }

    /// A list beside the diagram.
    package struct Section: Sendable {
        package var title: String
        package var items: [String]
        /// Whether the items are statements.
        package var isCode: Bool

        package init(_ title: String, _ items: [String], isCode: Bool = false) {
            (self.title, self.items, self.isCode) = (title, items, isCode)
        }
    }

    package var title: String
    /// A short summary of the diagram.
    package var facts: String
    package var sections: [Section] = []
    package var entities: [Entity] = []
    package var lines: [Line] = []

    package init(title: String, facts: String) {
        (self.title, self.facts) = (title, facts)
    }
}

/// A document that provides a diagram, besides its text and its JSON.
package protocol DiagramPrinting: PageDocumented, JSONDocument {
    var diagram: ModelDiagram { get }
}

/// A diagram for a page.
enum PageModel {
    static func value(_ diagram: ModelDiagram) -> JSONValue {
        .object([
            ("title", .string(diagram.title)), ("facts", .string(diagram.facts)),
            (
                "sections",
                .array(
                    diagram.sections.filter { !$0.items.isEmpty }.map { section in
                        .object([
                            ("title", .string(section.title)), ("isCode", .bool(section.isCode)),
                            ("items", texts(section.items)),
                        ])
                    })
            ),
            ("entities", .array(diagram.entities.map(value))), ("lines", .array(diagram.lines.map(value))),
        ])
    }

    private static func texts(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    private static func value(_ entity: ModelDiagram.Entity) -> JSONValue {
        .object([
            ("name", .string(entity.name)), ("parent", .optional(entity.parent)),
            ("isAbstract", .bool(entity.isAbstract)), ("mark", .optional(entity.mark?.rawValue)),
            ("changes", texts(entity.changes)), ("objects", .optional(entity.objects)),
            (
                "properties",
                .array(
                    entity.properties.map { property in
                        .object([
                            ("name", .string(property.name)), ("words", .string(property.words)),
                            ("isRelationship", .bool(property.isRelationship)),
                            ("mark", .optional(property.mark?.rawValue)), ("changes", texts(property.changes)),
                        ])
                    })
            ),
        ])
    }

    private static func value(_ line: ModelDiagram.Line) -> JSONValue {
        .object([
            ("source", .string(line.source)), ("destination", .string(line.destination)), ("name", .string(line.name)),
            ("inverse", .optional(line.inverse)), ("isToMany", .bool(line.isToMany)),
            ("comesFromMany", .bool(line.comesFromMany)), ("mark", .optional(line.mark?.rawValue)),
        ])
    }
}
