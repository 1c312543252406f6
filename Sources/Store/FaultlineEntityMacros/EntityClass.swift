#if Entities
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// A class marked with `@Entity`.
struct EntityClass {
    private let declaration: ClassDeclSyntax
    private let node: AttributeSyntax
    private let superclass: TypeSyntax
    private var properties: [PropertyDeclaration] = []
    private var indexes: [ConstraintDeclaration] = []
    private var constraints: [ConstraintDeclaration] = []
    private(set) var problems: [Diagnostic] = []
    /// Whether the class has an initializer that takes a context and further arguments.
    private var hasInitializer = false

    /// Fails if the declaration is not a class with a superclass.
    init?(_ declaration: some DeclGroupSyntax, _ node: AttributeSyntax) {
        guard let declaration = declaration.as(ClassDeclSyntax.self),
            let superclass = declaration.inheritanceClause?.inheritedTypes.first?.type.trimmed
        else { return nil }
        self.declaration = declaration
        self.node = node
        self.superclass = superclass
        if let parameters = declaration.genericParameterClause {
            problems.append(
                Problem("generic", "The class of an entity cannot be generic; remove the type parameters.")
                    .diagnostic(at: parameters))
        }
        for member in declaration.memberBlock.members { read(member.decl) }
        checkNames()
    }

    /// The diagnostic for a declaration that is not a class with a superclass.
    static func problem(of declaration: some DeclGroupSyntax, _ node: AttributeSyntax) -> Diagnostic {
        guard let declaration = declaration.as(ClassDeclSyntax.self) else {
            return Problem(
                "class", "Only a class can be an entity; make this a class that inherits from ManagedObject."
            )
            .diagnostic(at: declaration.introducer)
        }
        var new = declaration
        new.inheritanceClause = InheritanceClauseSyntax(
            inheritedTypes: [InheritedTypeSyntax(type: "ManagedObject" as TypeSyntax, trailingTrivia: .space)])
        new.inheritanceClause?.colon.trailingTrivia = .space
        new.name.trailingTrivia = []
        return Problem(
            "superclass",
            "The class of an entity must inherit from ManagedObject, or from the class of another entity; add ': ManagedObject'."
        )
        .diagnostic(
            at: declaration.name, fixIts: [.replace("inherit from ManagedObject", declaration, with: new)])
    }

    // MARK: - Reading

    private mutating func read(_ member: DeclSyntax) {
        if let variable = member.as(VariableDeclSyntax.self) {
            switch PropertyDeclaration.read(variable) {
            case .property(let property): properties.append(property)
            case .problem(let problem): problems.append(problem)
            case .other: break
            }
        } else if let initializer = member.as(InitializerDeclSyntax.self) {
            read(initializer)
        } else if let expansion = member.as(MacroExpansionDeclSyntax.self) {
            switch expansion.macroName.text {
            case "Index": read(ConstraintDeclaration.readIndexes(expansion), into: \.indexes)
            case "Unique": read(ConstraintDeclaration.readConstraints(expansion), into: \.constraints)
            default: break
            }
        } else if let conditional = member.as(IfConfigDeclSyntax.self) {
            problems.append(
                Problem(
                    "conditional",
                    "The properties of an entity cannot depend on conditional compilation; move this out of the class."
                )
                .diagnostic(at: conditional.clauses))
        }
    }

    /// Reads an initializer; a designated one would keep the class from inheriting the initializers that the store
    /// calls.
    private mutating func read(_ initializer: InitializerDeclSyntax) {
        let parameters = initializer.signature.parameterClause.parameters
        if parameters.count > 1, parameters.first?.firstName.text == "context" { hasInitializer = true }
        guard !initializer.modifiers.contains(where: { ["convenience", "required"].contains($0.name.text) }) else {
            return
        }
        var new = initializer
        new.modifiers.append(DeclModifierSyntax(name: .keyword(.convenience, trailingTrivia: .space)))
        if initializer.modifiers.isEmpty {
            new.modifiers[new.modifiers.startIndex].leadingTrivia = initializer.initKeyword.leadingTrivia
            new.initKeyword.leadingTrivia = []
        }
        problems.append(
            Problem(
                "initializer",
                "The store creates objects itself, so an initializer of an entity's class must be a convenience initializer that calls 'self.init(context:)'; add 'convenience'."
            ).diagnostic(
                at: initializer.initKeyword,
                fixIts: [.replace("add 'convenience'", initializer, with: new)]))
    }

    private mutating func read(
        _ reading: (declarations: [ConstraintDeclaration], problems: [Diagnostic]),
        into position: WritableKeyPath<EntityClass, [ConstraintDeclaration]>
    ) {
        self[keyPath: position] += reading.declarations
        problems += reading.problems
    }

    private mutating func checkNames() {
        var names: Set<String> = []
        for index in indexes where !names.insert(index.name).inserted {
            problems.append(
                Problem(
                    "indexName",
                    "Two indexes of the entity are named '\(index.name)'; give one of them another name: #Index(\"name\", …)."
                )
                .diagnostic(at: index.node))
        }
    }

    // MARK: - Members

    private var access: String {
        for modifier in declaration.modifiers {
            switch modifier.name.text {
            case "open", "public", "package": return modifier.name.text + " "
            default: continue
            }
        }
        return ""
    }

    private var name: TokenSyntax { declaration.name.trimmed }

    private var nameArgument: ExprSyntax? {
        node.arguments?.as(LabeledExprListSyntax.self)?.first { $0.label == nil }?.expression.trimmed
    }

    func members(isSubentity: Bool, in context: some MacroExpansionContext) -> [DeclSyntax] {
        let overriding = isSubentity ? "override " : ""
        let entityName = nameArgument ?? "\(literal: name.plainText)"
        let paths = properties.map {
            "PropertyKeyPath(\\Root.\($0.name.text), \\Root?.?.\($0.name.text), \"\($0.plainName)\")"
        }
        let own = "[\(paths.joined(separator: ", "))]"
        let all = isSubentity ? "\(superclass).keyPaths(from: root) + \(own)" : own
        var members: [DeclSyntax] = [
            "\(raw: access)override class var entityName: String { \(entityName) }",
            "\(raw: access)\(raw: overriding)class var entityDeclaration: EntityDeclaration { _entityDeclaration }",
            """
            private static let _entityDeclaration = EntityDeclaration(
            \(raw: arguments(isSubentity: isSubentity, in: context).joined(separator: ",\n"))
            )
            """,
            """
            \(raw: access)class func keyPaths<Root: \(name)>(from root: Root.Type) -> [PropertyKeyPath] {
                \(raw: all)
            }
            """,
        ]
        let initializer = MemberwiseInitializer(properties, access: access)
        if !hasInitializer, !initializer.isEmpty { members.append(initializer.declaration) }
        return members
    }

    private func arguments(isSubentity: Bool, in context: some MacroExpansionContext) -> [String] {
        var lines = ["    \(name).self"]
        if isSubentity { lines.append("    parent: \(superclass).self") }
        for argument in node.arguments?.as(LabeledExprListSyntax.self) ?? [] {
            if let label = argument.label { lines.append("    \(label.text): \(argument.expression.trimmed)") }
        }
        lines.append("    keyPaths: keyPaths(from: \(name).self)")
        let declared = properties.compactMap { property in
            context.location(of: property.name, at: .afterLeadingTrivia, filePathMode: .fileID).map {
                "        \(property.entityProperty(at: $0))"
            }
        }
        if !declared.isEmpty { lines.append("    properties: [\n\(declared.joined(separator: ",\n"))\n    ]") }
        let indexed = indexes.compactMap { index in
            context.location(of: index.node, at: .afterLeadingTrivia, filePathMode: .fileID).map {
                "        \(index.indexDescription(at: $0))"
            }
        }
        if !indexed.isEmpty { lines.append("    indexes: [\n\(indexed.joined(separator: ",\n"))\n    ]") }
        if !constraints.isEmpty {
            lines.append("    uniquenessConstraints: [\(constraints.map(\.names).joined(separator: ", "))]")
        }
        if let location = context.location(of: declaration.name, at: .afterLeadingTrivia, filePathMode: .fileID) {
            lines.append("    fileID: \(location.file)")
            lines.append("    line: \(location.line)")
        }
        return lines
    }
}
#endif
