import FaultlineModel
import Testing

@Suite("An invalid model throws an error that names the mistake")
struct ModelErrorTests {
    private func message(_ entities: EntityDescription...) -> String {
        do throws(ModelError) {
            _ = try ManagedObjectModel(entities: entities)
            return "no error"
        } catch {
            return error.message
        }
    }

    private let other = RelationshipDescription("a", to: "A", inverse: "b")

    @Test func twoEntitiesOfOneName() {
        #expect(
            message(EntityDescription("A"), EntityDescription("A"))
                == "Two entities are named 'A'; rename one of them.")
    }

    @Test func unknownParent() {
        #expect(
            message(EntityDescription("A", parent: "B"))
                == "Entity 'A' inherits from 'B', which the model does not have; add it or correct the name.")
    }

    @Test func circleOfParents() {
        #expect(
            message(EntityDescription("A", parent: "B"), EntityDescription("B", parent: "A"))
                == "Entity 'A' inherits from itself through 'B'; break the cycle.")
    }

    @Test func twoPropertiesOfOneName() {
        #expect(
            message(
                EntityDescription("A", attributes: [AttributeDescription("x", .string)]),
                EntityDescription(
                    "B", parent: "A", relationships: [RelationshipDescription("x", to: "A", inverse: nil)])
            ) == "Two properties of 'B' are named 'x', inherited ones included; rename one of them.")
    }

    @Test func unknownDestination() {
        #expect(
            message(EntityDescription("A", relationships: [RelationshipDescription("b", to: "B", inverse: nil)]))
                == "Relationship 'A.b' has the destination 'B', which the model does not have; add it or correct the name."
        )
    }

    @Test func unknownInverse() {
        #expect(
            message(
                EntityDescription("A", relationships: [RelationshipDescription("b", to: "B", inverse: "a")]),
                EntityDescription("B"))
                == "The inverse of 'A.b' is named 'a', which 'B' does not have; add it or correct the name.")
    }

    @Test func inverseThatPointsElsewhere() {
        #expect(
            message(
                EntityDescription(
                    "A",
                    relationships: [
                        RelationshipDescription("b", to: "B", inverse: "a"),
                        RelationshipDescription("c", to: "B", inverse: "a"),
                    ]),
                EntityDescription("B", relationships: [other]))
                == "The inverse of 'A.c', 'B.a', does not point back; make 'c' of 'A' its inverse.")
    }

    @Test("A relationship may lack an inverse")
    func noInverse() {
        #expect(
            message(
                EntityDescription(
                    "A",
                    relationships: [
                        RelationshipDescription("b", to: "A", inverse: nil, isToMany: true),
                        RelationshipDescription("c", to: "A", inverse: nil),
                    ])
            ) == "no error")
    }

    @Test func storedAttributeWithoutType() {
        #expect(
            message(EntityDescription("A", attributes: [AttributeDescription("x", .undefined)]))
                == "Attribute 'A.x' has no type but is stored; give it a type or make it transient.")
        #expect(
            message(EntityDescription("A", attributes: [AttributeDescription("x", .undefined, isTransient: true)]))
                == "no error")
    }

    @Test func defaultOfAnotherType() {
        #expect(
            message(EntityDescription("A", attributes: [AttributeDescription("x", .integer16, defaultValue: 40000)]))
                == "The default of attribute 'A.x' is 40000, which is not a value of type Integer 16; correct one of them."
        )
    }

    @Test func externalStorageOfText() {
        #expect(
            message(
                EntityDescription(
                    "A", attributes: [AttributeDescription("x", .string, allowsExternalBinaryDataStorage: true)]))
                == "Attribute 'A.x' of type String cannot be stored in external files; only Binary and Transformable can."
        )
    }

    @Test func indexOverNothing() {
        #expect(
            message(EntityDescription("A", indexes: [FetchIndexDescription("i", on: "y")]))
                == "Fetch index 'i' of 'A' names 'y', which is not a stored attribute or to-one relationship of it; correct the name."
        )
        #expect(
            message(EntityDescription("A", indexes: [FetchIndexDescription("i", elements: [])]))
                == "Fetch index 'i' of 'A' has no elements; name the properties to index.")
    }
}
