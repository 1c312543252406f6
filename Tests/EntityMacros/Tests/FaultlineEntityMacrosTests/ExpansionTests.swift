import Testing

@Suite("Expansions of the entity macros")
struct ExpansionTests {
    @Test("A class with attributes, relationships, an index and a constraint")
    func wholeClass() {
        expectExpansion(
            #"""
            @Entity final class Item: ManagedObject {
                var name: String = ""
                @Attribute(.transient, minimumValue: 0) var mood = 7
                var price: Double? = nil
                @Relationship(deleteRule: .deny, inverse: \Category.items) var category: Category?
                var tags: ToMany<Tag>
                var text: String { name }
                @EntityIgnored var cache = 0
                static let count = 3

                #Index<Item>([\.name], [\Item.category, \.price])
                #Unique<Item>([\.name])

                convenience init(context: ManagedObjectContext, name: String) {
                    self.init(context: context)
                }
            }
            """#,
            #"""
            final class Item: ManagedObject {
                var name: String {
                    get {
                        self[Self._name]
                    }
                    set {
                        self[Self._name] = newValue
                    }
                }

                private static let _name = EntityKey.make("name", String.self, default: "")
                var mood {
                    get {
                        self[Self._mood]
                    }
                    set {
                        self[Self._mood] = newValue
                    }
                }

                private static let _mood = EntityKey.make("mood", Int.self, default: 7)
                var price: Double? {
                    get {
                        self[Self._price]
                    }
                    set {
                        self[Self._price] = newValue
                    }
                }

                private static let _price = EntityKey.make("price", Double?.self)
                var category: Category? {
                    get {
                        self[Self._category]
                    }
                    set {
                        self[Self._category] = newValue
                    }
                }

                private static let _category = EntityKey.make("category", Category?.self)
                var tags: ToMany<Tag> {
                    get {
                        self[Self._tags]
                    }
                    set {
                        self[Self._tags] = newValue
                    }
                }

                private static let _tags = EntityKey.make("tags", ToMany<Tag>.self)
                var text: String { name }
                var cache = 0
                static let count = 3

                convenience init(context: ManagedObjectContext, name: String) {
                    self.init(context: context)
                }

                override class var entityName: String {
                    "Item"
                }

                class var entityDeclaration: EntityDeclaration {
                    _entityDeclaration
                }

                private static let _entityDeclaration = EntityDeclaration(
                    Item.self,
                    keyPaths: keyPaths(from: Item.self),
                    properties: [
                        EntityProperty(_name, default: "", fileID: "App/Item.swift", line: 2),
                        EntityProperty(_mood, default: 7, AttributeSettings(.transient, minimumValue: 0), fileID: "App/Item.swift", line: 3),
                        EntityProperty(_price, fileID: "App/Item.swift", line: 4),
                        EntityProperty(_category, RelationshipSettings(deleteRule: .deny, inverse: .named("items")), fileID: "App/Item.swift", line: 5),
                        EntityProperty(_tags, fileID: "App/Item.swift", line: 6)
                    ],
                    indexes: [
                        FetchIndexDescription("byName", elements: [.init("name")], fileID: "App/Item.swift", line: 11),
                        FetchIndexDescription("byCategoryAndPrice", elements: [.init("category"), .init("price")], fileID: "App/Item.swift", line: 11)
                    ],
                    uniquenessConstraints: [["name"]],
                    fileID: "App/Item.swift",
                    line: 1
                )

                class func keyPaths<Root: Item>(from root: Root.Type) -> [PropertyKeyPath] {
                    [PropertyKeyPath(\Root.name, \Root?.?.name, "name"), PropertyKeyPath(\Root.mood, \Root?.?.mood, "mood"), PropertyKeyPath(\Root.price, \Root?.?.price, "price"), PropertyKeyPath(\Root.category, \Root?.?.category, "category"), PropertyKeyPath(\Root.tags, \Root?.?.tags, "tags")]
                }
            }

            extension Item: Entity {
            }
            """#)
    }

    @Test("A class with an initializer for the properties that can be set from outside")
    func memberwise() {
        let expanded = expansion(
            of: #"""
                @Entity open class Book: ManagedObject {
                    public var title: String
                    public var pages = 1
                    open var subtitle: String?
                    public var shelf: Shelf?
                    public var authors: ToMany<Author>
                    public private(set) var hash: Int
                    private var secret: String
                }
                """#)
        #expect(
            expanded.contains(
                """
                public convenience init(context: ManagedObjectContext, title: String, pages: (Int)? = nil, subtitle: String? = nil, shelf: Shelf? = nil) {
                    self.init(context: context)
                    self.title = title
                    if let pages {
                        self.pages = pages
                    }
                    if let subtitle {
                        self.subtitle = subtitle
                    }
                    if let shelf {
                        self.shelf = shelf
                    }
                }
                """.replacing("\n", with: "\n    ")), "\(expanded)")
        let internals = expansion(of: "@Entity public class A: ManagedObject { public var a: Int?; var b: Int? }")
        #expect(
            internals.contains("    convenience init(context: ManagedObjectContext, a: Int? = nil, b: Int? = nil) {"))
        #expect(!internals.contains("public convenience"))
    }

    @Test("A public subclass of an entity's class, with another name")
    func subentity() {
        expectExpansion(
            #"""
            @Entity("Sport", isAbstract: true, renamingIdentifier: "Racer") public class SportCar: Car {
                var `default`: Int32 = -1
            }
            """#,
            #"""
            public class SportCar: Car {
                var `default`: Int32 {
                    get {
                        self[Self._default]
                    }
                    set {
                        self[Self._default] = newValue
                    }
                }

                private static let _default = EntityKey.make("default", Int32.self, default: -1)

                public override class var entityName: String {
                    "Sport"
                }

                public override class var entityDeclaration: EntityDeclaration {
                    _entityDeclaration
                }

                private static let _entityDeclaration = EntityDeclaration(
                    SportCar.self,
                    parent: Car.self,
                    isAbstract: true,
                    renamingIdentifier: "Racer",
                    keyPaths: keyPaths(from: SportCar.self),
                    properties: [
                        EntityProperty(_default, default: -1, fileID: "App/Item.swift", line: 2)
                    ],
                    fileID: "App/Item.swift",
                    line: 1
                )

                public class func keyPaths<Root: SportCar>(from root: Root.Type) -> [PropertyKeyPath] {
                    Car.keyPaths(from: root) + [PropertyKeyPath(\Root.`default`, \Root?.?.`default`, "default")]
                }

                convenience init(context: ManagedObjectContext, `default`: (Int32)? = nil) {
                    self.init(context: context)
                    if let `default` {
                        self.`default` = `default`
                    }
                }
            }
            """#, isSubentity: true)
    }

    @Test("A class without properties, and an index with a name and directions")
    func named() {
        expectExpansion(
            #"""
            @Entity class Empty: ManagedObject {
                #Index<Empty>("byBoth", .descending(\.a), .ascending(\.b))
            }
            """#,
            #"""
            class Empty: ManagedObject {

                override class var entityName: String {
                    "Empty"
                }

                class var entityDeclaration: EntityDeclaration {
                    _entityDeclaration
                }

                private static let _entityDeclaration = EntityDeclaration(
                    Empty.self,
                    keyPaths: keyPaths(from: Empty.self),
                    indexes: [
                        FetchIndexDescription("byBoth", elements: [.init("a", isAscending: false), .init("b")], fileID: "App/Item.swift", line: 2)
                    ],
                    fileID: "App/Item.swift",
                    line: 1
                )

                class func keyPaths<Root: Empty>(from root: Root.Type) -> [PropertyKeyPath] {
                    []
                }
            }

            extension Empty: Entity {
            }
            """#)
    }
}
