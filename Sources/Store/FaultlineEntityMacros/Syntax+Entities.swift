#if Entities
import SwiftSyntax
import SwiftSyntaxBuilder

extension AttributeListSyntax {
    /// The attribute with a name, with or without a module qualifier.
    func attribute(named name: String) -> AttributeSyntax? {
        lazy.compactMap { $0.as(AttributeSyntax.self) }.first { attribute in
            attribute.attributeName.as(IdentifierTypeSyntax.self)?.name.text == name
                || attribute.attributeName.as(MemberTypeSyntax.self)?.name.text == name
        }
    }
}

extension [LabeledExprSyntax] {
    /// The arguments as a comma-separated list on one line.
    var commaSeparated: LabeledExprListSyntax {
        LabeledExprListSyntax(
            enumerated().map { position, argument in
                var argument = argument
                argument.colon = argument.label == nil ? nil : .colonToken(trailingTrivia: .space)
                argument.trailingComma = position == count - 1 ? nil : .commaToken(trailingTrivia: .space)
                return argument
            })
    }
}

extension TokenSyntax {
    /// The name without the backticks that it may have in code.
    var plainText: String { text.hasPrefix("`") ? String(text.dropFirst().dropLast()) : text }
}

extension KeyPathExprSyntax {
    /// The property of a key path with exactly one component: `"items"` for `\Category.items`.
    var propertyName: String? {
        guard components.count == 1, case .property(let property)? = components.first?.component else { return nil }
        return property.declName.baseName.plainText
    }
}

extension TypeSyntax {
    private var generic: (name: String, arguments: GenericArgumentClauseSyntax)? {
        if let type = self.as(IdentifierTypeSyntax.self), let arguments = type.genericArgumentClause {
            return (type.name.text, arguments)
        }
        guard let type = self.as(MemberTypeSyntax.self), let arguments = type.genericArgumentClause else { return nil }
        return (type.name.text, arguments)
    }

    /// Whether the type is that of a to-many relationship.
    var isToMany: Bool { generic.map { ["ToMany", "OrderedToMany"].contains($0.name) } ?? false }

    /// The element type of an array or a set, or of an optional one.
    var elementOfCollection: TypeSyntax? {
        if let wrapped = self.as(OptionalTypeSyntax.self)?.wrappedType { return wrapped.elementOfCollection }
        if let array = self.as(ArrayTypeSyntax.self) { return array.element.trimmed }
        guard let (name, arguments) = generic, ["Array", "Set"].contains(name) else { return nil }
        return arguments.arguments.first.flatMap { TypeSyntax($0.argument)?.trimmed }
    }
}
#endif
