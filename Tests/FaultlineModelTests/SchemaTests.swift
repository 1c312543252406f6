import FaultlineModel
import Testing

@Suite("The database layout of a model matches Core Data's")
struct SchemaTests {
    @Test("Tables group their columns by type and index their foreign keys")
    func flatModel() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                attributes: [
                    AttributeDescription("name", .string), AttributeDescription("age", .integer16),
                    AttributeDescription("city", .string),
                ],
                relationships: [RelationshipDescription("notes", to: "Note", inverse: "owner", isToMany: true)]),
            EntityDescription(
                "Note", attributes: [AttributeDescription("text", .string)],
                relationships: [RelationshipDescription("owner", to: "Person", inverse: "notes")]),
        ])
        #expect(
            model.schema.statements == [
                "CREATE TABLE ZNOTE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZOWNER INTEGER, ZTEXT VARCHAR )",
                "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, ZCITY VARCHAR, ZNAME VARCHAR )",
                "CREATE INDEX ZNOTE_ZOWNER_INDEX ON ZNOTE (ZOWNER)",
            ])
        #expect(model.schema.entity(named: "Note")?.number == 1)
        #expect(model.schema.entity(named: "Person")?.number == 2)
        #expect(
            model.schema.entity(named: "Person")?.properties.map(\.name) == ["age", "city", "name", "notes"])
    }

    @Test("Transient relationships have no column, and to-many ones without an inverse have one in the members' table")
    func unusualRelationships() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Car",
                relationships: [
                    RelationshipDescription("driver", to: "Person", inverse: "driven", isTransient: true),
                    RelationshipDescription("owner", to: "Person", inverse: nil),
                ]),
            EntityDescription(
                "Person",
                attributes: [AttributeDescription("count", .integer32, derivationExpression: "likes.@count")],
                relationships: [
                    RelationshipDescription(
                        "driven", to: "Car", inverse: "driver", isToMany: true, isOrdered: true, isTransient: true),
                    RelationshipDescription("likes", to: "Car", inverse: nil, isToMany: true),
                ]),
        ])
        let schema = model.schema
        #expect(
            schema.statements == [
                "CREATE TABLE ZCAR ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZOWNER INTEGER, Z1LIKES INTEGER )",
                "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOUNT INTEGER )",
                "CREATE INDEX ZCAR_ZOWNER_INDEX ON ZCAR (ZOWNER)",
                "CREATE INDEX ZCAR_Z1LIKES_INDEX ON ZCAR (Z1LIKES)",
            ])
        let driven = try #require(schema.entity(named: "Person")?.property("driven"))
        #expect(driven.isTransient && driven.isOrdered && driven.orderColumn == nil)
        let person = try #require(schema.entity(named: "Person"))
        let likes = try #require(person.property("likes"))
        #expect(schema.inverse(of: likes) == nil && schema.destination(of: likes)?.name == "Car")
        let count = try #require(person.property("count"))
        #expect(schema.inverse(of: count) == nil && schema.destination(of: count) == nil)
        #expect(DerivationTriggers(schema).unsupported.isEmpty)
    }

    @Test("Without an inverse, two relationships to one entity have a column each, which a store can name otherwise")
    func ownerColumns() throws {
        func owner(_ name: String) -> EntityDescription {
            EntityDescription(
                name,
                relationships: [
                    RelationshipDescription("parts", to: "Part", inverse: nil, isToMany: true, isOrdered: true)
                ])
        }
        let entities = [
            owner("Car"), owner("Ship"), EntityDescription("Part", attributes: [AttributeDescription("name", .string)]),
        ]
        func columns(_ stored: [String: Set<String>]) -> [String?] {
            let schema = ModelSchema(
                entities, numbers: stored.isEmpty ? [:] : ["Car": 1, "Part": 2, "Ship": 3], storedColumns: stored)
            return ["Car", "Ship"].map { schema.entity(named: $0)?.property("parts")?.joinTable?.sourceColumn }
        }
        #expect(columns([:]) == ["Z2PARTS", "Z2PARTS1"])
        #expect(columns(["ZPART": ["Z_PK", "ZNAME", "Z1PARTS", "Z3PARTS"]]) == ["Z1PARTS", "Z3PARTS"])
        #expect(columns(["ZPART": ["Z_PK", "ZNAME", "ZPARTS", "Z2PARTSX"]]) == [nil, nil])
        let schema = try ManagedObjectModel(entities: entities).schema
        #expect(
            schema.statements.first { $0.hasPrefix("CREATE TABLE ZPART") }
                == "CREATE TABLE ZPART ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, Z2PARTS INTEGER, Z2PARTS1 INTEGER, Z_FOK_2PARTS INTEGER, Z_FOK_2PARTS1 INTEGER, ZNAME VARCHAR )"
        )
        #expect(schema.unlocatedProperty == nil)
        #expect(
            ModelSchema(entities, numbers: ["Car": 1, "Part": 2, "Ship": 3], storedColumns: ["ZPART": ["Z_PK"]])
                .unlocatedProperty?.name == "Car.parts")
    }

    /// As in Wire's stores: `Reaction.users` and `SystemMessage.users` both lead to `User`.
    @Test("Join columns with one name are numbered in the order of their own entity's relationships")
    func numberedJoinColumns() throws {
        func many(_ name: String, to destination: String, _ inverse: String) -> RelationshipDescription {
            RelationshipDescription(name, to: destination, inverse: inverse, isToMany: true)
        }
        let entities = [
            EntityDescription("Reaction", relationships: [many("users", to: "User", "reactions")]),
            EntityDescription("SystemMessage", relationships: [many("users", to: "User", "messages")]),
            EntityDescription(
                "User",
                relationships: [
                    many("reactions", to: "Reaction", "users"), many("messages", to: "SystemMessage", "users"),
                ]),
        ]
        #expect(
            try ManagedObjectModel(entities: entities).schema.statements.filter { $0.hasPrefix("CREATE TABLE Z_") } == [
                "CREATE TABLE Z_1USERS ( Z_1REACTIONS INTEGER, Z_3USERS1 INTEGER, PRIMARY KEY (Z_1REACTIONS, Z_3USERS1) )",
                "CREATE TABLE Z_2USERS ( Z_2MESSAGES INTEGER, Z_3USERS INTEGER, PRIMARY KEY (Z_2MESSAGES, Z_3USERS) )",
            ])
        // An older store of this library has numbered nothing.
        let stored: [String: Set<String>] = [
            "Z_1USERS": ["Z_1REACTIONS", "Z_3USERS"], "Z_2USERS": ["Z_2MESSAGES", "Z_3USERS2"],
        ]
        let schema = ModelSchema(
            entities, numbers: ["Reaction": 1, "SystemMessage": 2, "User": 3], storedColumns: stored)
        let user = try #require(schema.entity(named: "User"))
        #expect(user.property("reactions")?.joinTable?.sourceColumn == "Z_3USERS")
        #expect(user.property("messages")?.joinTable?.sourceColumn == "Z_3USERS2")
        let reaction = try #require(schema.entity(named: "Reaction")?.property("users")?.joinTable)
        #expect(reaction.sourceColumn == "Z_1REACTIONS" && reaction.destinationColumn == "Z_3USERS")
    }

    /// The model is CoreDataPlus' SampleModel, and the table equals that of a store made by Apple's framework.
    @Test("A tree of entities shares a table, with subentities' columns after their parents'")
    func inheritance() throws {
        let model = try ManagedObjectModel(entities: SampleModel.entities)
        #expect(
            model.schema.statements == [
                "CREATE TABLE ZCAR ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZOWNER INTEGER, ZISLIMITEDEDITION INTEGER, ZMARKEDFORDELETIONASOF TIMESTAMP, ZMAKER VARCHAR, ZMODEL VARCHAR, ZNUMBERPLATE VARCHAR, ZCOLOR BLOB )",
                "CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZUPDATEDAT TIMESTAMP, ZFIRSTNAME VARCHAR, ZLASTNAME VARCHAR, ZID BLOB )",
                "CREATE INDEX ZCAR_ZOWNER_INDEX ON ZCAR (ZOWNER)",
                "CREATE INDEX ZCAR_Z_ENT_INDEX ON ZCAR (Z_ENT)",
            ])
        #expect(
            model.schema.entities.map { "\($0.number) \($0.name)" } == [
                "1 Car", "2 SportCar", "3 ExpensiveSportCar", "4 Person",
            ])
    }

    @Test("A foreign key to an entity tree has a second column for the entity")
    func entityColumn() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Book", relationships: [RelationshipDescription("pages", to: "Page", inverse: "book", isToMany: true)]),
            EntityDescription("GraphicNovel", parent: "Book"),
            EntityDescription(
                "Page",
                attributes: [
                    AttributeDescription("number", .integer32), AttributeDescription("isBookmarked", .boolean),
                    AttributeDescription("content", .transformable),
                ],
                relationships: [RelationshipDescription("book", to: "Book", inverse: "pages")]),
        ])
        #expect(
            model.schema.statements.contains(
                "CREATE TABLE ZPAGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZISBOOKMARKED INTEGER, ZNUMBER INTEGER, ZBOOK INTEGER, Z1_BOOK INTEGER, ZCONTENT BLOB )"
            ))
    }

    @Test("A many-to-many join table is named after the side with the lower entity number")
    func joinTable() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Tag", relationships: [RelationshipDescription("items", to: "Item", inverse: "tags", isToMany: true)]),
            EntityDescription(
                "Item", relationships: [RelationshipDescription("tags", to: "Tag", inverse: "items", isToMany: true)]),
        ])
        #expect(
            Array(model.schema.statements.suffix(2)) == [
                "CREATE TABLE Z_1TAGS ( Z_1ITEMS INTEGER, Z_2TAGS INTEGER, PRIMARY KEY (Z_1ITEMS, Z_2TAGS) )",
                "CREATE INDEX Z_1TAGS_Z_2TAGS_INDEX ON Z_1TAGS (Z_2TAGS, Z_1ITEMS)",
            ])
        let items = try #require(model.schema.entity(named: "Tag")?.property("items")?.joinTable)
        #expect([items.table, items.sourceColumn, items.destinationColumn] == ["Z_1TAGS", "Z_2TAGS", "Z_1ITEMS"])
    }

    @Test("The join table of a self-relationship is named after the first of both names")
    func reflexiveJoinTables() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Person",
                relationships: [
                    RelationshipDescription("friends", to: "Person", inverse: "friends", isToMany: true),
                    RelationshipDescription("fans", to: "Person", inverse: "idols", isToMany: true),
                    RelationshipDescription("idols", to: "Person", inverse: "fans", isToMany: true),
                ])
        ])
        #expect(
            model.schema.statements.filter { $0.contains("TABLE Z_") } == [
                "CREATE TABLE Z_1FANS ( Z_1IDOLS INTEGER, Z_1FANS INTEGER, PRIMARY KEY (Z_1IDOLS, Z_1FANS) )",
                "CREATE TABLE Z_1FRIENDS ( Z_1FRIENDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY (Z_1FRIENDS, REFLEXIVE) )",
            ])
    }

    @Test("Fetch indexes are named after their entity and use binary collation")
    func fetchIndex() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "CallRecord", attributes: [AttributeDescription("date", .date), AttributeDescription("name", .string)],
                indexes: [
                    FetchIndexDescription("byDateIndex", on: "date"),
                    FetchIndexDescription("byBoth", elements: [.init("name"), .init("date", isAscending: false)]),
                ])
        ])
        #expect(
            Array(model.schema.statements.suffix(2)) == [
                "CREATE INDEX Z_CallRecord_byDateIndex ON ZCALLRECORD (ZDATE COLLATE BINARY ASC)",
                "CREATE INDEX Z_CallRecord_byBoth ON ZCALLRECORD (ZNAME COLLATE BINARY ASC, ZDATE COLLATE BINARY DESC)",
            ])
    }

    @Test("Names that differ only in case, or that siblings share, get numbers")
    func collisions() throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription(
                "Item", attributes: [AttributeDescription("Title", .string), AttributeDescription("title", .string)]),
            EntityDescription("Book", parent: "Item", attributes: [AttributeDescription("pages", .integer32)]),
            EntityDescription("Song", parent: "Item", attributes: [AttributeDescription("pages", .string)]),
        ])
        #expect(
            model.schema.statements[0]
                == "CREATE TABLE ZITEM ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPAGES INTEGER, ZTITLE VARCHAR, ZTITLE1 VARCHAR, ZPAGES1 VARCHAR )"
        )
    }

    @Test("Every attribute type has its column type", arguments: AttributeType.allCases.filter { $0 != .undefined })
    func columnTypes(_ type: AttributeType) throws {
        let model = try ManagedObjectModel(entities: [
            EntityDescription("A", attributes: [AttributeDescription("x", type)])
        ])
        let expected =
            switch type {
            case .integer16, .integer32, .integer64, .boolean: "INTEGER"
            case .double, .float: "FLOAT"
            case .date: "TIMESTAMP"
            case .decimal: "DECIMAL"
            case .string, .uri: "VARCHAR"
            case .binary, .uuid, .transformable, .undefined, .composite: "BLOB"
            }
        #expect(
            model.schema.statements[0]
                == "CREATE TABLE ZA ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZX \(expected) )")
    }

    @Test("Inherited properties keep their slot in every subentity, and transient ones have no column")
    func propertyOrder() throws {
        let model = try ManagedObjectModel(entities: SampleModel.entities)
        let car = try #require(model.schema.entity(named: "Car"))
        let sport = try #require(model.schema.entity(named: "ExpensiveSportCar"))
        #expect(sport.properties.map(\.name) == car.properties.map(\.name) + ["isLimitedEdition"])
        #expect(car.property("currentDrivingSpeed")?.slot == -1)
        #expect(
            sport.columns.map(\.name) == [
                "ZCOLOR", "ZISLIMITEDEDITION", "ZMAKER", "ZMARKEDFORDELETIONASOF", "ZMODEL", "ZNUMBERPLATE", "ZOWNER",
            ])
    }

    @Test("The version hash depends only on the layout")
    func versionHash() throws {
        func hash(_ attribute: AttributeDescription, _ indexes: [FetchIndexDescription] = []) throws -> String {
            try ManagedObjectModel(entities: [EntityDescription("A", attributes: [attribute], indexes: indexes)])
                .versionHash
        }
        let base = try hash(AttributeDescription("x", .string))
        #expect(base.count == 16)
        #expect(try hash(AttributeDescription("x", .string, isOptional: false, defaultValue: "y")) == base)
        #expect(try hash(AttributeDescription("x", .string), [FetchIndexDescription("i", on: "x")]) == base)
        #expect(try hash(AttributeDescription("x", .integer16)) != base)
        #expect(try hash(AttributeDescription("y", .string)) != base)
    }

    @Test("Descriptions record where they are declared")
    func declarations() {
        let attribute = AttributeDescription("x", .string)
        let line = #line - 1
        #expect(attribute.declaredAt == "FaultlineModelTests/SchemaTests.swift:\(line)")
    }
}

enum SampleModel {
    static var entities: [EntityDescription] {
        [
            EntityDescription(
                "Car",
                attributes: [
                    AttributeDescription("color", .transformable),
                    AttributeDescription("currentDrivingSpeed", .integer64, isTransient: true, defaultValue: 0),
                    AttributeDescription("maker", .string), AttributeDescription("markedForDeletionAsOf", .date),
                    AttributeDescription("model", .string),
                    AttributeDescription("numberPlate", .string, isOptional: false),
                ],
                relationships: [RelationshipDescription("owner", to: "Person", inverse: "cars")]),
            EntityDescription(
                "ExpensiveSportCar", parent: "SportCar",
                attributes: [AttributeDescription("isLimitedEdition", .boolean)]),
            EntityDescription(
                "Person",
                attributes: [
                    AttributeDescription("firstName", .string), AttributeDescription("id", .uuid),
                    AttributeDescription("isDriving", .boolean, isTransient: true),
                    AttributeDescription("lastName", .string), AttributeDescription("updatedAt", .date),
                ],
                relationships: [RelationshipDescription("cars", to: "Car", inverse: "owner", isToMany: true)]),
            EntityDescription("SportCar", parent: "Car"),
        ]
    }
}
