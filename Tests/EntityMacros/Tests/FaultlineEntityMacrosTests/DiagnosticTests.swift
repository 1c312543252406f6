import Testing

@Suite("Diagnostics of the entity macros")
struct DiagnosticTests {
    /// An invalid member or declaration, and its diagnostic.
    struct Case: Sendable, CustomTestStringConvertible {
        var source: String
        var message: String
        var fixed: String?

        init(_ source: String, _ message: String, fixed: String? = nil) {
            self.source = source
            self.message = message
            self.fixed = fixed
        }

        var testDescription: String { source }

        static func inClass(_ member: String) -> String {
            "@Entity final class Item: ManagedObject {\n    \(member)\n}"
        }
    }

    static let properties = [
        Case(
            "let name: String",
            "let name: St| The value of 'name' is read from the store, so it cannot be a constant; make it 'var'.",
            fixed: "var name: String"),
        Case(
            "@Attribute(.unique) let name: String",
            "let name: St| The value of 'name' is read from the store, so it cannot be a constant; make it 'var'.",
            fixed: "@Attribute(.unique) var name: String"),
        Case(
            "var name = makeName()",
            "name = makeN| The type of 'name' cannot be inferred here; write it: 'var name: Type'."),
        Case(
            "var a = 1, b = 2",
            "a = 1, b = 2| Each property of an entity needs its own declaration; split this one."),
        Case(
            "var (a, b) = (1, 2)",
            "(a, b) = (1,| A property of an entity has a single name; declare the parts separately."),
        Case(
            "lazy var name = \"\"",
            "lazy var nam| The value of 'name' is kept in the store, so it cannot be 'lazy'; remove the modifier, or mark the property with @EntityIgnored."
        ),
        Case(
            "weak var category: Category?",
            "weak var cat| The value of 'category' is kept in the store, so it cannot be 'weak'; remove the modifier, or mark the property with @EntityIgnored."
        ),
        Case(
            "override var name: String",
            "override var| 'name' is inherited from the parent entity; remove it here, or give it a getter."
        ),
        Case(
            "var name: String = \"\" { didSet {} }",
            "{ didSet {} | A property of an entity cannot have observers; override willSave() of the object, or observe the context."
        ),
        Case(
            "@Attribute var name: String { \"\" }",
            "@Attribute v| 'name' is computed and has nothing to store; remove '@Attribute'."),
        Case(
            "@Relationship static var category: Category?",
            "@Relationshi| A type property is not a property of the entity; remove '@Relationship'."),
        Case(
            "@Attribute @Relationship var category: Category?",
            "@Relationshi| A property is either an attribute or a relationship; remove one of the two."),
        Case(
            "var name: String!", "String!| 'name' cannot be implicitly unwrapped; make it 'String?'.",
            fixed: "var name: String?"),
        Case(
            "@Relationship var tags: [Tag] = []",
            "[Tag] = []| A to-many relationship of the type '[Tag]' would load all of its objects when it is read; make it 'ToMany<Tag>', or 'OrderedToMany<Tag>' if the objects are ordered.",
            fixed: "@Relationship var tags: ToMany<Tag> = []"),
        Case(
            "@Relationship var tags: Set<Tag>?",
            "Set<Tag>?| A to-many relationship of the type 'Set<Tag>?' would load all of its objects when it is read; make it 'ToMany<Tag>', or 'OrderedToMany<Tag>' if the objects are ordered.",
            fixed: "@Relationship var tags: ToMany<Tag>"),
        Case(
            "@Relationship var category: Category",
            "Category| 'category' refers to no object until it is set; make it 'Category?', and mark the relationship with 'isOptional: false' if an object cannot be saved without one.",
            fixed: "@Relationship var category: Category?"),
        Case(
            "@Relationship var category: Category? = .other",
            ".other| A relationship cannot have an initial value; set 'category' in an initializer."),
        Case(
            "@Relationship(inverse: \\Category.items.first) var category: Category?",
            "\\Category.it| The inverse must be a literal key path to a relationship of the destination: \\Category.items."
        ),
        Case(
            "@Relationship(inverse: other) var category: Category?",
            "other) var c| The inverse must be a literal key path to a relationship of the destination: \\Category.items."
        ),
        Case(
            "@Relationship(maximumCount: 3) var category: Category?",
            "maximumCount| A to-one relationship has at most one object; remove 'maximumCount'."),
        Case(
            "var made: Date = .now",
            ".now| The initial value of an attribute is evaluated once for all objects; set 'made' to '.now' in awakeFromInsert()."
        ),
        Case(
            "@Attribute(.unique) var id: UUID? = UUID()",
            "UUID()| The initial value of an attribute is evaluated once for all objects; set 'id' to 'UUID()' in awakeFromInsert()."
        ),
        Case(
            "init(name: String) { fatalError() }",
            "init(name: S| The store creates objects itself, so an initializer of an entity's class must be a convenience initializer that calls 'self.init(context:)'; add 'convenience'.",
            fixed: "convenience init(name: String) { fatalError() }"),
        Case(
            "private init(name: String) { fatalError() }",
            "init(name: S| The store creates objects itself, so an initializer of an entity's class must be a convenience initializer that calls 'self.init(context:)'; add 'convenience'.",
            fixed: "private convenience init(name: String) { fatalError() }"),
        Case(
            "#Index<Item>([\\.category.name])",
            "\\.category.n| Each element must be a key path to a property of the entity itself: \\.name."),
        Case(
            "#Index<Item>(list)", "list)| '#Index' takes literal lists of key paths: [\\.name]."
        ),
        Case(
            "#Index<Item>(\"by\\(name)\", .ascending(\\.name))",
            "\"by\\(name)\",| The name of an index must be a string literal: \"byName\"."),
        Case(
            "#Index<Item>(\"byName\", element)",
            "element)| Each element must be a key path to a property of the entity itself: \\.name."),
        Case(
            "#Index<Item>([\\.name], [\\.name])",
            "[\\.name])| Two indexes of the entity are named 'byName'; give one of them another name: #Index(\"name\", …)."
        ),
        Case(
            "#Unique<Item>([\\.name, other])",
            "other])| Each element must be a key path to a property of the entity itself: \\.name."),
        Case(
            "#if DEBUG\nvar name: String\n#endif",
            "#if DEBUG| The properties of an entity cannot depend on conditional compilation; move this out of the class."
        ),
    ]

    @Test("An invalid member is diagnosed once, at its token, with a fix-it if possible", arguments: properties)
    func property(_ problem: Case) {
        let complaints = Complaints(Case.inClass(problem.source))
        #expect(complaints.messages == [problem.message])
        #expect(complaints.fixed == problem.fixed.map { Case.inClass($0) })
        if let fixed = complaints.fixed, !fixed.contains("= []") { #expect(Complaints(fixed).messages == []) }
    }

    static let declarations = [
        Case(
            "@Entity struct Item {}",
            "struct Item | Only a class can be an entity; make this a class that inherits from ManagedObject."),
        Case(
            "@Entity actor Item {}",
            "actor Item {| Only a class can be an entity; make this a class that inherits from ManagedObject."),
        Case(
            "@Entity final class Item {}",
            "Item {}| The class of an entity must inherit from ManagedObject, or from the class of another entity; add ': ManagedObject'.",
            fixed: "@Entity final class Item: ManagedObject {}"),
        Case(
            "@Entity class Item<Value>: ManagedObject {}",
            "<Value>: Man| The class of an entity cannot be generic; remove the type parameters."),
        Case(
            "class Item: ManagedObject { @Attribute var name: String }",
            "@Attribute v| '@Attribute' can be applied only to a property of an entity's class; mark the class with @Entity."
        ),
        Case(
            "@Entity class Item: ManagedObject { @Relationship func category() {} }",
            "@Relationshi| '@Relationship' can be applied only to a property of an entity's class."),
        Case(
            "class Item: ManagedObject { #Unique<Item>([\\.name]) }",
            "#Unique<Item| '#Unique' can be used only in an entity's class; mark the class with @Entity."),
    ]

    @Test("An invalid entity declaration is diagnosed", arguments: declarations)
    func declaration(_ problem: Case) {
        let complaints = Complaints(problem.source)
        #expect(complaints.messages == [problem.message])
        #expect(complaints.fixed == problem.fixed)
    }

    @Test("Variables that do not belong to the entity are ignored")
    func other() {
        let complaints = Complaints(
            """
            @Entity final class Item: ManagedObject {
                static var count = 0
                class var all: [Item] { [] }
                @EntityIgnored lazy var cache = makeCache()
                @EntityIgnored let made = Date()
                var text: String { get { "" } set {} }
                required init(_ seed: Seed) { super.init(seed) }
            }
            """)
        #expect(complaints.messages == [])
    }
}
