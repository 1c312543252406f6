#if Entities
import SwiftSyntax
import SwiftSyntaxBuilder

/// The initializer that takes a context and the values of a class's properties: `Book(context: context, title: "…")`.
///
/// A property that is neither optional nor has an initial value is a required argument. The others can be omitted, and
/// then keep their initial values, or the values that `awakeFromInsert()` has set. To-many relationships are not
/// included.
struct MemberwiseInitializer {
    private let properties: [PropertyDeclaration]
    private let access: String

    /// Creates the initializer.
    ///
    /// - Parameter access: The class's access level followed by a space, or an empty string.
    init(_ properties: [PropertyDeclaration], access: String) {
        let properties = properties.filter { !["private", "fileprivate"].contains($0.access) && !$0.type.isToMany }
        self.properties = properties
        // A parameter's type may be no more visible than its property.
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

    /// Whether it needs an argument.
    fileprivate var isRequired: Bool { !isOptional && initialValue == nil }
}
#endif
