import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Predicates over to-many relationships and computed values run in SQLite")
struct CollectionPredicateTests {
    /// Three categories: "Bread" has two items, "Fruit" one, "Empty" none; one item has no category.
    private func makeStore() throws -> TestStore {
        let store = try TestStore(isRecording: true)
        let context = store.context
        let categories = ["Bread", "Fruit", "Empty"].map { name in
            let category = Category(context: context)
            category.name = name
            return category
        }
        let section = Section(context: context)
        section.title = "Bakery"
        categories[0].section = section
        let tags = ["fresh", "sweet"].map { label in
            let tag = Tag(context: context)
            tag.label = label
            return tag
        }
        let rows: [(String, Double?, Int, Int?, [Int])] = [
            ("Baguette", 1.5, 3, 0, [0]), ("Croissant", 2.5, 4, 0, [0, 1]), ("Apple", 0.5, 10, 1, [1]),
            ("Salt", nil, 1, nil, []),
        ]
        for (name, price, amount, category, labels) in rows {
            let item = Item(context: context)
            item.name = name
            item.price = price
            item.amount = amount
            item.category = category.map { categories[$0] }
            item.tags.add(contentsOf: labels.map { tags[$0] })
        }
        try context.save()
        return store
    }

    /// Formats, the end of the SQL statement, and the items found.
    static let itemFormats: [(String, String, [String])] = [
        (
            "ANY tags.label == 'sweet'",
            " FROM ZITEM t0 WHERE  EXISTS(SELECT 1 FROM Z_2TAGS t1 JOIN ZTAG t2 ON t1.Z_4TAGS = t2.Z_PK WHERE (t0.Z_PK = t1.Z_2ITEMS AND  t2.ZLABEL = ?) )",
            ["Apple", "Croissant"]
        ),
        (
            "ALL tags.label == 'sweet'",
            " WHERE  NOT EXISTS(SELECT 1 FROM Z_2TAGS t1 JOIN ZTAG t2 ON t1.Z_4TAGS = t2.Z_PK WHERE (t0.Z_PK = t1.Z_2ITEMS AND  NOT (IFNULL( t2.ZLABEL = ?, 0))) )",
            ["Apple", "Salt"]
        ),
        (
            "NONE tags.label == 'sweet'",
            " WHERE  NOT EXISTS(SELECT 1 FROM Z_2TAGS t1 JOIN ZTAG t2 ON t1.Z_4TAGS = t2.Z_PK WHERE (t0.Z_PK = t1.Z_2ITEMS AND  t2.ZLABEL = ?) )",
            ["Baguette", "Salt"]
        ),
        (
            "ANY tags.label BEGINSWITH[c] 'FR'", "NSCoreDataStringSearch( t2.ZLABEL, ?, 9, 0)) )",
            ["Baguette", "Croissant"]
        ),
        ("ANY tags.label IN {'sweet', 'x'}", " t2.ZLABEL IN (?, ?)) )", ["Apple", "Croissant"]),
        ("'sweet' IN tags.label", " t2.ZLABEL = ?) )", ["Apple", "Croissant"]),
        ("tags.label CONTAINS 'sweet'", " t2.ZLABEL = ?) )", ["Apple", "Croissant"]),
        (
            "tags.@count > 1",
            " WHERE (SELECT COUNT(t1.Z_4TAGS) FROM Z_2TAGS t1 WHERE (t0.Z_PK = t1.Z_2ITEMS) ) > ?", ["Croissant"]
        ),
        ("tags.@count == 0", ") = ?", ["Salt"]),
        (
            "category.items.@count == 2",
            " WHERE (SELECT COUNT(t1.Z_PK) FROM ZITEM t1 WHERE (t0.ZCATEGORY = t1.ZCATEGORY) ) = ?",
            ["Baguette", "Croissant"]
        ),
        ("category.items.@count == 0", ") = ?", ["Salt"]),
        (
            "price > category.items.@avg.price",
            " WHERE  t0.ZPRICE > (SELECT avg( t1.ZPRICE) FROM ZITEM t1 WHERE (t0.ZCATEGORY = t1.ZCATEGORY) )",
            ["Croissant"]
        ),
        (
            "price == max:(category.items.price)",
            "(SELECT max( t1.ZPRICE) FROM ZITEM t1 WHERE (t0.ZCATEGORY = t1.ZCATEGORY) )", ["Apple", "Croissant"]
        ),
        (
            "ANY category.items.tags.label == 'sweet' AND name != 'Apple'",
            " WHERE ( EXISTS(SELECT 1 FROM ZITEM t1 JOIN Z_2TAGS t2 ON t1.Z_PK = t2.Z_2ITEMS JOIN ZTAG t3 ON t2.Z_4TAGS = t3.Z_PK WHERE (t0.ZCATEGORY = t1.ZCATEGORY AND  t3.ZLABEL = ?) ) AND  t0.ZNAME <> ?)",
            ["Baguette", "Croissant"]
        ),
        ("price * 2 > 4", " WHERE ( t0.ZPRICE * ?) > ?", ["Croissant"]),
        (
            "price * amount >= 5 - 0.5", " WHERE ( t0.ZPRICE *  t0.ZAMOUNT) >= (? - ?)",
            ["Apple", "Baguette", "Croissant"]
        ),
        ("amount / 4 == 2", " WHERE ( t0.ZAMOUNT / ?) = ?", ["Apple"]),
        ("amount % 2 == 1", " WHERE ( t0.ZAMOUNT % ?) = ?", ["Baguette", "Salt"]),
        ("amount ** 2 > 10", " WHERE pow( t0.ZAMOUNT, ?) > ?", ["Apple", "Croissant"]),
        ("-amount < -4", " WHERE (- t0.ZAMOUNT) < ?", ["Apple"]),
        ("abs(price - 2) == 0.5", " WHERE abs(( t0.ZPRICE - ?)) = ?", ["Baguette", "Croissant"]),
        ("price != amount", "( IFNULL( t0.ZPRICE <> t0.ZAMOUNT, 1)", []),
        ("uppercase(name) == 'APPLE'", " WHERE FaultlineUppercase( t0.ZNAME) = ?", ["Apple"]),
        ("length(name) < 5", " WHERE FaultlineLength( t0.ZNAME) < ?", ["Salt"]),
        ("3 < amount", " WHERE ? <  t0.ZAMOUNT", ["Apple", "Croissant"]),
        ("name < category.name", " WHERE  t0.ZNAME <  t1.ZNAME", ["Apple", "Baguette"]),
        ("'alt' IN name", " WHERE  NSCoreDataStringSearch( t0.ZNAME, ?, 0, 0)", ["Salt"]),
        ("name CONTAINS category.section.title", "", []),
        (
            "category.section.title BEGINSWITH 'Bak'", " WHERE ( t2.ZTITLE >= ? AND  t2.ZTITLE < ?)",
            ["Baguette", "Croissant"]
        ),
        ("name IN[c] {'APPLE', 'salt'}", " OR  FaultlineStringCompare( t0.ZNAME, ?, 1) = 0)", ["Apple", "Salt"]),
        ("name IN {category.name, 'Salt'}", "", ["Salt"]),
        (
            "TERNARY(price > 2, 'dear', 'cheap') == 'dear'",
            " WHERE CASE WHEN t0.ZPRICE > ? THEN ? ELSE ? END = ?", ["Croissant"]
        ),
        (
            "price BETWEEN {amount / 4, amount}", " BETWEEN ( t0.ZAMOUNT / ?) AND  t0.ZAMOUNT",
            ["Baguette", "Croissant"]
        ),
        ("1 == 1", " WHERE ? = ?", ["Apple", "Baguette", "Croissant", "Salt"]),
    ]

    @Test("A predicate over items becomes SQL and finds the expected rows", arguments: itemFormats)
    func items(_ format: String, _ clause: String, _ names: [String]) throws {
        let store = try makeStore()
        let before = store.statements().count
        let found = try store.context.fetch(
            FetchRequest<Item>(predicate: try FetchPredicate(format: format), sortDescriptors: [.ascending("name")]))
        if !names.isEmpty { #expect(found.map(\.name) == names) }
        let sql = store.statements()[before...].joined(separator: "\n")
        let end = sql.components(separatedBy: "  ORDER BY")[0]
        #expect(names.isEmpty || end.hasSuffix(clause), Comment(rawValue: sql))
        let negated = try store.context.count(
            for: FetchRequest<Item>(predicate: !(try FetchPredicate(format: format))))
        #expect(negated == 4 - found.count)
    }

    static let categoryFormats: [(String, String, [String])] = [
        (
            "ANY items.price > 2",
            " WHERE  EXISTS(SELECT 1 FROM ZITEM t1 WHERE (t0.Z_PK = t1.ZCATEGORY AND  t1.ZPRICE > ?) )", ["Bread"]
        ),
        ("ALL items.price > 2", "", ["Empty"]),
        (
            "items.@sum.price > 3",
            " WHERE (SELECT total( t1.ZPRICE) FROM ZITEM t1 WHERE (t0.Z_PK = t1.ZCATEGORY) ) > ?", ["Bread"]
        ),
        ("items.@sum.price == 0", "", ["Empty"]),
        ("items.@min.price == nil", ") IS NULL", ["Empty"]),
        (
            "SUBQUERY(items, $i, $i.price > 1 AND $i.amount < 4).@count == 1",
            " WHERE (SELECT COUNT(t1.Z_PK) FROM ZITEM t1 WHERE (t0.Z_PK = t1.ZCATEGORY AND ( t1.ZPRICE > ? AND  t1.ZAMOUNT < ?)) ) = ?",
            ["Bread"]
        ),
        (
            "SUBQUERY(items, $i, ANY $i.tags.label == 'sweet' AND $i.name BEGINSWITH name).@count == 0", "",
            ["Bread", "Empty", "Fruit"]
        ),
        (
            "SUBQUERY(items, $i, SUBQUERY($i.tags, $t, $t.label BEGINSWITH 's').@count > 0).@count == 1", "",
            ["Bread", "Fruit"]
        ),
        ("SUBQUERY(items.tags, $t, $t.label == 'fresh').@count == 2", "", ["Bread"]),
        ("ANY SUBQUERY(items, $i, $i.price > 2).name == 'Croissant'", "", ["Bread"]),
        ("SUBQUERY(items, $i, $i.amount > 3).@max.price == 2.5", "", ["Bread"]),
        ("SUBQUERY(items, $i, $i.category.section.title == nil).@count > 0", "", ["Fruit"]),
        ("section.category.items.@count == 2", "", ["Bread"]),
        ("section.title == nil AND items.@count == 0", "", ["Empty"]),
        ("ANY items.category.name == 'Fruit'", "", ["Fruit"]),
        ("ANY items == nil", "", []),
        ("NONE items.tags.label == 'fresh'", "", ["Empty", "Fruit"]),
    ]

    @Test("A predicate over categories becomes SQL and finds the expected rows", arguments: categoryFormats)
    func categories(_ format: String, _ clause: String, _ names: [String]) throws {
        let store = try makeStore()
        let before = store.statements().count
        let found = try store.context.fetch(
            FetchRequest<Category>(predicate: try FetchPredicate(format: format), sortDescriptors: [.ascending("name")])
        )
        #expect(found.map(\.name) == names)
        let sql = store.statements()[before...].joined(separator: "\n")
        #expect(
            clause.isEmpty || sql.components(separatedBy: "  ORDER BY")[0].hasSuffix(clause), Comment(rawValue: sql))
        let negated = try store.context.count(
            for: FetchRequest<Category>(predicate: !(try FetchPredicate(format: format))))
        #expect(negated == 3 - found.count)
    }

    @Test("Predicates compare relationships with objects and lists of objects")
    func objects() throws {
        let store = try makeStore()
        let context = store.context
        func item(_ name: String) throws -> Item {
            try context.fetch(FetchRequest<Item>(predicate: PropertyPath("name") == name))[0]
        }
        func names(_ format: String, _ arguments: (any FetchPredicateArgument)?...) throws -> [String] {
            let predicate = try FetchPredicate(format: format, argumentArray: arguments)
            return try context.fetch(
                FetchRequest<Category>(predicate: predicate, sortDescriptors: [.ascending("name")])
            )
            .map(\.name)
        }
        let apple = try item("Apple")
        let croissant = try item("Croissant")
        #expect(try names("items CONTAINS %@", apple) == ["Fruit"])
        #expect(try names("%@ IN items", apple) == ["Fruit"])
        #expect(try names("ANY items == %@", croissant) == ["Bread"])
        #expect(try names("ANY items IN %@", [apple, croissant]) == ["Bread", "Fruit"])
        #expect(try names("NONE items IN %@", [apple, croissant]) == ["Empty"])
        #expect(try names("SUBQUERY(items, $i, $i == %@).@count > 0", apple) == ["Fruit"])
        #expect(try names("SELF IN %@", [try #require(apple.category)]) == ["Fruit"])
        #expect(try names("self == %@", apple.category) == ["Fruit"])
        #expect(try names("objectID == %@", apple.category) == ["Fruit"])
        #expect(try names("SUBQUERY(items, $i, $i IN section.category.items).@count == 2") == ["Bread"])
        let spouses = try context.fetch(
            FetchRequest<Item>(predicate: try FetchPredicate(format: "SELF IN category.items")))
        #expect(spouses.count == 3)
    }

    static let wrong: [(String, String)] = [
        (
            "tags.label == 'x'",
            "'tags.label' goes through 'tags', which is to-many; put ANY or ALL before the comparison, or aggregate the values with @count, @sum, @min, @max or @avg."
        ),
        ("ANY name == 'x'", "'name' does not go through a to-many relationship, so ANY has no meaning; remove it."),
        (
            "ANY nmae == 'x'",
            "'nmae' is not a valid key path because Item has no property 'nmae'; correct the key path."
        ),
        (
            "ALL tags.@count == 3",
            "ALL needs a key path through a to-many relationship, and 'tags.@count' is not one; remove ALL."
        ),
        (
            "tags.@sum.label > 3",
            "sum: takes numbers, but 'tags.@sum.label' is of type String; name another attribute."
        ),
        (
            "tags.@sum > 3",
            "'tags.@sum' aggregates the values of objects but names no attribute; add one: '@sum.price'."
        ),
        (
            "tags.@median.label > 3",
            "'tags.@median.label' uses @median, which fetches do not support; use @count, @sum, @min, @max or @avg."
        ),
        (
            "tags.@distinctUnionOfObjects.label == 'x'",
            "'tags.@distinctUnionOfObjects.label' yields several values where one is needed; compare each of them with 'ANY tags.label', or fetch dictionaries with returnsDistinctResults for the different ones."
        ),
        (
            "category.@count > 3",
            "'category' does not go through a to-many relationship; name a to-many relationship."
        ),
        ("name + 1 > 3", "add:to: takes numbers and dates, but 'name' is of type String; name another attribute."),
        ("uppercase(price) == 'x'", "uppercase: takes text, but 'price' is of type Double; name another attribute."),
        (
            "price & 3 == 1",
            "bitwiseAnd:with: takes integers, but 'price' is of type Double; name another attribute."
        ),
        (
            "price == name",
            "'price' of type Double cannot be compared with 'name' of type String; compare it with a value of its type."
        ),
        ("price == category", "'price' is an attribute and cannot be compared with an object."),
        ("category == 3", "'category' is a relationship and can only be compared with objects."),
        (
            "name MATCHES category.name",
            "'name' is compared by MATCHES with 'category.name', but the pattern must be a constant."
        ),
        (
            "price IN 3",
            "IN needs a list, a to-many relationship or a string that can contain 'price', and '?' is none of these; write {…}."
        ),
        ("price BETWEEN amount", "BETWEEN takes a list of two values, and 'amount' is not one; write {lower, upper}."),
        ("nil == price", "nil is allowed only on the right of == and !=; write 'property == nil'."),
        (
            "sum(price) > 3",
            "'sum:(price)' aggregates all objects of a fetch; in a predicate, sum: takes a key path through a to-many relationship."
        ),
        (
            "SUBQUERY(category, $i, $i.name == 'x').@count > 0",
            "'category' does not go through a to-many relationship; name a to-many relationship."
        ),
        (
            "SUBQUERY(tags.label, $i, $i == 'x').@count > 0",
            "'tags.label' yields values, but SUBQUERY needs objects; name a relationship."
        ),
        ("$x.name == 3", "'$x' has no value; set one with withSubstitutionVariables before executing the request."),
        ("tags CONTAINS 'x'", "'tags' can only be compared with objects."),
    ]

    @Test("An expression that SQL cannot express throws an error that names it", arguments: wrong)
    func errors(_ format: String, _ message: String) throws {
        let store = try makeStore()
        let text = performing {
            _ = try store.context.fetch(FetchRequest<Item>(predicate: try FetchPredicate(format: format)))
        }
        #expect(text == "Fetching Item: \(message)")
    }

    @Test("No value or key path is inserted into SQL text")
    func injection() throws {
        let store = try makeStore()
        let before = store.statements().count
        let evil = "x'); DROP TABLE ZITEM; --"
        for format in [
            "name == %@", "ANY tags.label == %@", "%@ IN tags.label", "name LIKE %@", "uppercase(%@) == name",
        ] {
            _ = try store.context.fetch(FetchRequest<Item>(predicate: try FetchPredicate(format: format, evil)))
        }
        #expect(!store.statements()[before...].contains { $0.contains("DROP") })
        for keyPath in [evil, "name; DROP TABLE ZITEM", "t0.ZNAME", "Z_PK", "name'"] {
            let text = performing {
                _ = try store.context.fetch(
                    FetchRequest<Item>(predicate: try FetchPredicate(format: "%K == 1", keyPath)))
            }
            #expect(text.contains("is not a valid key path"))
        }
    }
}
