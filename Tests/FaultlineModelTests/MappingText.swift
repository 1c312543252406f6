import FaultlineModel
import Foundation
import TestFolders

/// The text of a mapping model's file, and two models for it.
enum MappingText {
    static func models() throws -> (source: ManagedObjectModel, destination: ManagedObjectModel) {
        func model(_ attribute: String, _ more: [EntityDescription] = []) throws -> ManagedObjectModel {
            try ManagedObjectModel(
                entities: [
                    EntityDescription(
                        "Car", attributes: [AttributeDescription(attribute, .string)],
                        relationships: [RelationshipDescription("owner", to: "Person", inverse: "cars")]),
                    EntityDescription(
                        "Person", attributes: [AttributeDescription("name", .string)],
                        relationships: [RelationshipDescription("cars", to: "Car", inverse: "owner", isToMany: true)]),
                ] + more)
        }
        return (try model("color"), try model("paint", [EntityDescription("Maker")]))
    }

    /// Returns the text of a file; line 2 has the mapping model, and each object is a line.
    static func file(_ objects: [String], entities: [String]) -> String {
        let model =
            "<object type=\"XDDEVMAPPINGMODEL\" id=\"m\">\(relationship("entitymappings", entities))</object>"
        return (["<database>", model] + objects + ["</database>", ""]).joined(separator: "\n")
    }

    /// Returns the text of a file that maps `Car.paint`.
    static func file(expression: String) -> String {
        file(
            [
                entity("c", [("sourcename", "Car"), ("destinationname", "Car")], attributes: ["p"]),
                property("p", "ATTRIBUTE", [("name", "paint"), ("valueexpressiondata", expression)]),
            ], entities: ["c"])
    }

    static func entity(
        _ id: String, _ attributes: [(String, String)], attributes list: [String] = [], relationships: [String] = []
    ) -> String {
        object(
            "XDDEVENTITYMAPPING", id,
            text(attributes) + relationship("attributemappings", list)
                + relationship("relationshipmappings", relationships))
    }

    static func property(_ id: String, _ kind: String, _ attributes: [(String, String)]) -> String {
        object("XDDEV\(kind)MAPPING", id, text(attributes))
    }

    private static func object(_ type: String, _ id: String, _ content: String) -> String {
        "<object type=\"\(type)\" id=\"\(id)\">\(content)</object>"
    }

    private static func text(_ attributes: [(String, String)]) -> String {
        attributes.map { "<attribute name=\"\($0)\" type=\"string\">\($1)</attribute>" }.joined()
    }

    private static func relationship(_ name: String, _ ids: [String]) -> String {
        "<relationship name=\"\(name)\" type=\"0/0\" idrefs=\"\(ids.joined(separator: " "))\"></relationship>"
    }
}
