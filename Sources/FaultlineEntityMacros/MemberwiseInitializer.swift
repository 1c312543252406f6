import SwiftSyntax
import SwiftSyntaxBuilder

/// The initializer that takes a context and the values of a class's properties: `Book(context: context, title: "…")`.
///
/// A property that must have a value and has no initial one has to be given. The others can be left out, and are then as
/// the object was made: with their initial values, or what `awakeFromInsert()` has set. To-many relationships are left out.
struct MemberwiseInitializer {
    private let properties: [PropertyDeclaration]
    private let access: String

    /// - Parameter access: The class's access level with a space behind it, or nothing.
    init(_ properties: [PropertyDeclaration], access: String) {
        let properties = properties.filter { !["private", "fileprivate"].contains($0.access) && !$0.type.isToMany }
        self.properties = properties
        // A parameter's type may be known no further than its property is.
        let levels = access == "package " ? ["package", "public", "open"] : ["public", "open"]
        let isShared = !access.isEmpty && properties.allSatisfy { $0.access.map(levels.contains) ?? false }
        self.access = isShared ? access.replacing("open", with: "public") : ""
    }

    var isEmpty: Bool { properties.isEmpty }

    var declaration: DeclSyntax {
        let parameters = properties.map { property in
            let type = property.type
            if property.isRequired { return "\(property.name.text): \(type)" }
            return "\(property.name.text): \(property.isOptional ? "\(type)" : "(\(type))?") = nil"
        }
        let assignments = properties.map { property in
            let name = property.name.text
            return property.isRequired
                ? "    self.\(name) = \(name)" : "    if let \(name) { self.\(name) = \(name) }"
        }
        return """
            \(raw: access)convenience init(context: ManagedObjectContext, \(raw: parameters.joined(separator: ", "))) {
                self.init(context: context)
            \(raw: assignments.joined(separator: "\n"))
            }
            """
    }
}

extension PropertyDeclaration {
    fileprivate var isOptional: Bool {
        type.is(OptionalTypeSyntax.self) || type.as(IdentifierTypeSyntax.self)?.name.text == "Optional"
    }

    /// Whether it has no value before one is given.
    fileprivate var isRequired: Bool { !isOptional && initialValue == nil }
}
