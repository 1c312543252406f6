import FaultlineEntities
import Foundation
import Testing

@testable import FaultlineStore

/// A Swift predicate, the same predicate in Core Data's format, and the names of the items it selects.
struct PredicatePair: Sendable, CustomTestStringConvertible {
    let format: String
    let names: [String]
    let predicate: @Sendable () throws -> FetchPredicate
    let formatted: @Sendable () throws -> FetchPredicate

    init(
        _ format: String, _ arguments: (any FetchPredicateArgument & Sendable)?..., selects names: [String],
        _ predicate: @Sendable @escaping () -> Predicate<Pantry.Item>
    ) {
        self.format = format
        self.names = names
        self.predicate = { try FetchPredicate(predicate()) }
        formatted = { try FetchPredicate(format: format, argumentArray: arguments) }
    }

    var testDescription: String { format }
}

@Suite("Predicates written in Swift")
struct PredicateTests {
    private static let now = Date(timeIntervalSinceReferenceDate: 200)
    private static let names = ["Chili", "Hammer"]
    private static let tool = Kind.tool
    private static let noDate: Date? = nil

    static let pairs: [PredicatePair] = [
        // Comparisons.
        PredicatePair("amount == 3", selects: ["Äpfel"]) { #Predicate { $0.amount == 3 } },
        PredicatePair("amount != 3", selects: ["Birnen", "Chili", "Hammer"]) { #Predicate { $0.amount != 3 } },
        PredicatePair("price < 3", selects: ["Äpfel", "Chili"]) { #Predicate { $0.price! < 3 } },
        PredicatePair("amount <= 1 AND amount >= -1", selects: ["Chili", "Hammer"]) {
            #Predicate { $0.amount <= 1 && $0.amount >= -1 }
        },
        PredicatePair("price == nil", selects: ["Birnen"]) { #Predicate { $0.price == nil } },
        PredicatePair("category != nil", selects: ["Äpfel", "Birnen", "Hammer"]) { #Predicate { $0.category != nil } },
        PredicatePair("boughtAt > %@", now, selects: ["Chili"]) {
            let date = now
            return #Predicate { $0.boughtAt! > date }
        },
        PredicatePair("boughtAt == nil", selects: ["Birnen", "Hammer"]) {
            let date = noDate
            return #Predicate { $0.boughtAt == date }
        },
        PredicatePair("kind == 2", selects: ["Hammer"]) {
            let kind = tool
            return #Predicate { $0.kind == kind }
        },
        PredicatePair("amount > stock", selects: ["Äpfel", "Birnen"]) { #Predicate { $0.amount > $0.stock } },
        // Logical operators, in the order in which they are written.
        PredicatePair("isListed == YES", selects: ["Äpfel", "Chili", "Hammer"]) { #Predicate { $0.isListed } },
        PredicatePair("NOT isListed == YES", selects: ["Birnen"]) { #Predicate { !$0.isListed } },
        PredicatePair("isListed == NO", selects: ["Birnen"]) { #Predicate { $0.isListed == false } },
        PredicatePair("amount > 0 AND isListed == YES AND name != \"x\"", selects: ["Äpfel", "Hammer"]) {
            #Predicate { $0.amount > 0 && $0.isListed && $0.name != "x" }
        },
        PredicatePair(
            "amount == 3 OR amount == 7 OR (amount == 1 AND NOT isListed == YES)", selects: ["Äpfel", "Birnen"]
        ) {
            #Predicate { $0.amount == 3 || $0.amount == 7 || ($0.amount == 1 && !($0.isListed == true)) }
        },
        PredicatePair("TRUEPREDICATE", selects: ["Äpfel", "Birnen", "Chili", "Hammer"]) { #Predicate { _ in true } },
        // Relationships.
        PredicatePair("category.name == \"Fruit\"", selects: ["Äpfel", "Birnen"]) {
            #Predicate { $0.category?.name == "Fruit" }
        },
        PredicatePair("category.shelf.number == 1", selects: ["Äpfel", "Birnen"]) {
            #Predicate { $0.category?.shelf?.number == 1 }
        },
        PredicatePair("category.name != \"Fruit\"", selects: ["Chili", "Hammer"]) {
            #Predicate { $0.category?.name != "Fruit" }
        },
        PredicatePair("amount < 8 AND category.name == \"Fruit\"", selects: ["Äpfel", "Birnen"]) {
            #Predicate { $0.amount < 8 && $0.category?.name == "Fruit" }
        },
        // Text.
        PredicatePair("name BEGINSWITH \"Ha\"", selects: ["Hammer"]) { #Predicate { $0.name.starts(with: "Ha") } },
        PredicatePair("name CONTAINS \"i\"", selects: ["Birnen", "Chili"]) { #Predicate { $0.name.contains("i") } },
        PredicatePair("name CONTAINS[cd] \"A\"", selects: ["Äpfel", "Hammer"]) {
            #Predicate { $0.name.localizedStandardContains("A") }
        },
        PredicatePair("name == \"\"", selects: []) { #Predicate { $0.name.isEmpty } },
        PredicatePair("category.name CONTAINS \"oo\"", selects: ["Hammer"]) {
            #Predicate { $0.category?.name.contains("oo") ?? false }
        },
        PredicatePair("category.name BEGINSWITH \"T\"", selects: ["Hammer"]) {
            #Predicate { $0.category?.name.starts(with: "T") == true }
        },
        // Lists and ranges.
        PredicatePair("name IN {\"Chili\", \"Hammer\"}", selects: ["Chili", "Hammer"]) {
            let list = names
            return #Predicate { list.contains($0.name) }
        },
        PredicatePair("amount IN {1, 3}", selects: ["Äpfel", "Hammer"]) { #Predicate { [1, 3].contains($0.amount) } },
        PredicatePair("amount BETWEEN {1, 3}", selects: ["Äpfel", "Hammer"]) {
            #Predicate { (1...3).contains($0.amount) }
        },
        PredicatePair("amount >= 1 AND amount < 3", selects: ["Hammer"]) {
            let range = 1..<3
            return #Predicate { range.contains($0.amount) }
        },
        PredicatePair("amount >= 3", selects: ["Äpfel", "Birnen"]) {
            let range = 3...
            return #Predicate { range.contains($0.amount) }
        },
        PredicatePair("name CONTAINS \"Chili\" OR name CONTAINS \"Hammer\"", selects: ["Chili", "Hammer"]) {
            let list = names
            return #Predicate { item in list.contains { item.name.contains($0) } }
        },
        // Arithmetic and conditionals.
        PredicatePair("amount * 2 + 1 == 7", selects: ["Äpfel"]) { #Predicate { $0.amount * 2 + 1 == 7 } },
        PredicatePair("price / 2 - 1 > 1", selects: ["Hammer"]) { #Predicate { $0.price! / 2 - 1 > 1 } },
        PredicatePair("modulus:by:(amount, 3) == 1", selects: ["Birnen", "Hammer"]) {
            #Predicate { $0.amount % 3 == 1 }
        },
        PredicatePair("TERNARY(price != nil, price, 0) < 1", selects: ["Birnen", "Chili"]) {
            #Predicate { ($0.price ?? 0) < 1 }
        },
        PredicatePair("TERNARY(isListed == YES, amount, 0) > 0", selects: ["Äpfel", "Hammer"]) {
            #Predicate { ($0.isListed ? $0.amount : 0) > 0 }
        },
        // To-many relationships.
        PredicatePair("ANY tags.label == \"red\"", selects: ["Äpfel", "Chili"]) {
            #Predicate { $0.tags.contains { $0.label == "red" } }
        },
        PredicatePair("ALL tags.label == \"red\"", selects: ["Birnen", "Chili"]) {
            #Predicate { $0.tags.allSatisfy { $0.label == "red" } }
        },
        PredicatePair("NOT ANY tags.label == \"red\"", selects: ["Birnen", "Hammer"]) {
            #Predicate { !$0.tags.contains { $0.label == "red" } }
        },
        PredicatePair(
            "SUBQUERY(tags, $object, $object.label == \"red\" OR $object.label == \"new\").@count > 0",
            selects: ["Äpfel", "Chili", "Hammer"]
        ) {
            #Predicate { $0.tags.contains { $0.label == "red" || $0.label == "new" } }
        },
        PredicatePair(
            "SUBQUERY(tags, $object, NOT ($object.label != \"x\" AND $object.label != \"red\")).@count == 0",
            selects: ["Birnen", "Hammer"]
        ) {
            #Predicate { $0.tags.allSatisfy { $0.label != "x" && $0.label != "red" } }
        },
        PredicatePair("SUBQUERY(tags, $object, $object.label == \"new\").@count == 1", selects: ["Äpfel", "Hammer"]) {
            #Predicate { $0.tags.filter { $0.label == "new" }.count == 1 }
        },
        PredicatePair("ANY category.items.tags.label == \"new\"", selects: ["Äpfel", "Birnen", "Hammer"]) {
            #Predicate { $0.category?.items.contains { $0.tags.contains { $0.label == "new" } } == true }
        },
        PredicatePair("tags.@count > 1", selects: ["Äpfel"]) { #Predicate { $0.tags.count > 1 } },
        PredicatePair("tags.@count == 0", selects: ["Birnen"]) { #Predicate { $0.tags.isEmpty } },
        // Without a category, Swift has nothing to count, test or negate.
        PredicatePair("category != nil AND category.items.@count == 2", selects: ["Äpfel", "Birnen"]) {
            #Predicate { $0.category?.items.count == 2 }
        },
        PredicatePair("category == nil OR category.items.@count != 2", selects: ["Chili", "Hammer"]) {
            #Predicate { $0.category?.items.count != 2 }
        },
        PredicatePair("TERNARY(category != nil, category.items.@count, 0) < 1", selects: ["Chili"]) {
            #Predicate { ($0.category?.items.count ?? 0) < 1 }
        },
        PredicatePair("category != nil AND category.shelf == nil", selects: ["Hammer"]) {
            #Predicate { $0.category.flatMap { $0.shelf == nil } ?? false }
        },
        PredicatePair("category != nil AND NOT category.name CONTAINS \"F\"", selects: ["Hammer"]) {
            #Predicate { $0.category.flatMap { !$0.name.contains("F") } ?? false }
        },
        PredicatePair("NOT category.name CONTAINS \"F\"", selects: ["Chili", "Hammer"]) {
            #Predicate { $0.category?.name.contains("F") != true }
        },
        PredicatePair("category != nil AND category.items.@count == 0", selects: []) {
            #Predicate { $0.category?.items.isEmpty ?? false }
        },
    ]

    @Test("A Swift predicate and the same predicate in Core Data's format run the same statement", arguments: pairs)
    func sameStatement(_ pair: PredicatePair) throws {
        let pantry = try PantryStore()
        let predicate = try pair.predicate()
        let swift = try pantry.select(predicate)
        let format = try pantry.select(try pair.formatted())
        #expect(swift.sql == format.sql)
        #expect(predicate.shape == (try pair.formatted().shape))
        #expect(swift.names == pair.names)
        #expect(format.names == pair.names)
    }

    @Test("A predicate on an object's ID equals one on the object")
    func objects() throws {
        let pantry = try PantryStore()
        let fruit = try pantry.context.fetch(Pantry.Category.fetchRequest())[0]
        let red = try pantry.context.fetch(Pantry.Tag.fetchRequest())[0]
        let items = try pantry.context.fetch(FetchRequest<Pantry.Item>(sortDescriptors: [.ascending("amount")]))
        let (id, ids) = (items[0].objectID, items[0..<2].map(\.objectID))
        let (fruitID, redID) = (fruit.objectID, red.objectID)
        let pairs: [(Predicate<Pantry.Item>, String, any FetchPredicateArgument, Int)] = [
            (#Predicate { $0.category?.objectID == fruitID }, "category == %@", fruit, 2),
            (#Predicate { $0.objectID == id }, "self == %@", id, 1),
            (#Predicate { ids.contains($0.objectID) }, "self IN %@", ids, 2),
            (#Predicate { $0.tags.contains { $0.objectID == redID } }, "ANY tags == %@", red, 2),
        ]
        for (predicate, format, argument, count) in pairs {
            let swift = try FetchPredicate(predicate)
            let formatted = try FetchPredicate(format: format, argument)
            #expect(swift.description == formatted.description)
            let selected = try pantry.select(swift)
            #expect(selected.sql == (try pantry.select(formatted).sql))
            #expect(selected.names.count == count)
        }
    }

    @Test("Nested tests of related objects become nested subqueries")
    func nested() throws {
        let pantry = try PantryStore()
        let swift = try FetchPredicate(
            #Predicate<Pantry.Shelf> { shelf in
                shelf.categories.contains { category in
                    category.name == "Fruit" && category.items.contains { $0.amount > 5 && !$0.isListed }
                }
            })
        #expect(
            swift.description
                == "SUBQUERY(categories, $object, $object.name == \"Fruit\" AND SUBQUERY($object.items, $object2, $object2.amount > 5 AND NOT $object2.isListed == 1).@count > 0).@count > 0"
        )
        #expect(try pantry.context.fetch(FetchRequest<Pantry.Shelf>(predicate: swift)).map(\.number) == [1])
        let none = try FetchPredicate(
            #Predicate<Pantry.Shelf> { shelf in
                shelf.categories.contains { category in
                    category.name == "Fruit" && category.items.contains { $0.amount > 5 && $0.isListed }
                }
            })
        #expect(try pantry.context.fetch(FetchRequest<Pantry.Shelf>(predicate: none)).isEmpty)
    }

    @Test("A subclass supports predicates on inherited properties")
    func inherited() throws {
        let pantry = try PantryStore()
        let request = try FetchRequest<Pantry.Tool>(#Predicate { $0.weight == 1 && $0.name == "Hammer" })
        #expect(request.predicate?.description == "weight == 1 AND name == \"Hammer\"")
        #expect(try pantry.context.fetch(request).count == 1)
    }

    @Test("An expression that SQL cannot express throws an error that names it")
    func unsupported() throws {
        func message(_ predicate: Predicate<Pantry.Item>, sourceLocation: Testing.SourceLocation = #_sourceLocation)
            -> String
        {
            let error = #expect(throws: StoreError.self, sourceLocation: sourceLocation) {
                try FetchPredicate(predicate)
            }
            #expect(error?.code == .invalidRequest, sourceLocation: sourceLocation)
            return error?.message.replacingOccurrences(
                of: "; express it differently, or filter the fetched objects.",
                with: ""
            )
            .replacingOccurrences(of: "A #Predicate cannot be translated to SQL because it contains ", with: "") ?? ""
        }
        #expect(
            message(#Predicate { $0.title == "x" })
                == "a key path from 'Item' to 'String', which is not a property of the entity 'Item'")
        #expect(message(#Predicate { $0 is Pantry.Tool }) == "'is'")
        #expect(message(#Predicate { $0.name.count > 3 }) == "'count'")
        let prices = ["Chili": 3]
        #expect(message(#Predicate { prices[$0.name] == 3 }) == "'[key]'")
        #expect(
            message(#Predicate { ($0.category?.name.contains("x") ?? true) })
                == "'??' after a condition with something other than 'false'")
        #expect(
            message(#Predicate { $0.category?.name.contains("x") == false })
                == "an optional condition compared with 'false'")
        let number = UInt64.max
        #expect(
            message(#Predicate { $0.name == "x" && number == 3 })
                == "the number 18446744073709551615, which no attribute can hold")
    }
}
