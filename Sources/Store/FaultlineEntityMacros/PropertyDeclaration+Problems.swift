#if Entities
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// Diagnostics for variables that cannot be properties.
extension PropertyDeclaration {
    static func problem(
        of variable: VariableDeclSyntax, _ binding: PatternBindingSyntax, _ marker: AttributeSyntax?
    ) -> Diagnostic? {
        if let relationship = variable.attributes.attribute(named: "Relationship"),
            variable.attributes.attribute(named: "Attribute") != nil
        {
            return Problem("both", "A property is either an attribute or a relationship; remove one of the two.")
                .diagnostic(at: relationship)
        }
        if variable.bindings.count > 1 {
            return Problem("several", "Each property of an entity needs its own declaration; split this one.")
                .diagnostic(at: variable.bindings)
        }
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
            return Problem("pattern", "A property of an entity has a single name; declare the parts separately.")
                .diagnostic(at: binding.pattern)
        }
        if variable.bindingSpecifier.tokenKind == .keyword(.let) {
            let new = variable.bindingSpecifier.with(\.tokenKind, .keyword(.var))
            return Problem(
                "let", "The value of '\(name.text)' is read from the store, so it cannot be a constant; make it 'var'."
            )
            .diagnostic(
                at: variable.bindingSpecifier,
                fixIts: [.replace("make it 'var'", variable.bindingSpecifier, with: new)])
        }
        for modifier in variable.modifiers {
            switch modifier.name.text {
            case "lazy", "weak", "unowned":
                return Problem(
                    "modifier",
                    "The value of '\(name.text)' is kept in the store, so it cannot be '\(modifier.name.text)'; remove the modifier, or mark the property with @EntityIgnored."
                ).diagnostic(at: modifier)
            case "override":
                return Problem(
                    "override",
                    "'\(name.text)' is inherited from the parent entity; remove it here, or give it a getter."
                ).diagnostic(at: modifier)
            default: break
            }
        }
        guard let accessors = binding.accessorBlock else { return nil }
        if isComputed(binding), let marker {
            return Problem(
                "computed",
                "'\(name.text)' is computed and has nothing to store; remove '@\(marker.attributeName.trimmed)'."
            ).diagnostic(at: marker)
        }
        return Problem(
            "observer",
            "A property of an entity cannot have observers; override willSave() of the object, or observe the context."
        )
        .diagnostic(at: accessors)
    }

    static func problem(ofType type: TypeSyntax, _ name: TokenSyntax, isRelationship: Bool) -> Diagnostic? {
        if let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            let optional = OptionalTypeSyntax(wrappedType: unwrapped.wrappedType, trailingTrivia: type.trailingTrivia)
            return Problem("unwrapped", "'\(name.text)' cannot be implicitly unwrapped; make it '\(optional.trimmed)'.")
                .diagnostic(at: type, fixIts: [.replace("make it '\(optional.trimmed)'", type, with: optional)])
        }
        guard isRelationship else { return nil }
        if let element = type.elementOfCollection {
            let new: TypeSyntax = "ToMany<\(element)>"
            let ordered: TypeSyntax = "OrderedToMany<\(element)>"
            return Problem(
                "collection",
                "A to-many relationship of the type '\(type.trimmed)' would load all of its objects when it is read; make it '\(new)', or '\(ordered)' if the objects are ordered."
            ).diagnostic(
                at: type,
                fixIts: [
                    .replace("make it '\(new)'", type, with: new.with(\.trailingTrivia, type.trailingTrivia)),
                    .replace("make it '\(ordered)'", type, with: ordered.with(\.trailingTrivia, type.trailingTrivia)),
                ])
        }
        if type.isToMany || type.is(OptionalTypeSyntax.self) { return nil }
        let optional = OptionalTypeSyntax(wrappedType: type.trimmed, trailingTrivia: type.trailingTrivia)
        return Problem(
            "toOne",
            "'\(name.text)' refers to no object until it is set; make it '\(optional.trimmed)', and mark the relationship with 'isOptional: false' if an object cannot be saved without one."
        ).diagnostic(at: type, fixIts: [.replace("make it '\(optional.trimmed)'", type, with: optional)])
    }

    /// Rejects initial values that should differ between objects, because an initial value is evaluated once.
    static func problem(ofValue value: ExprSyntax, _ type: TypeSyntax, _ name: TokenSyntax) -> Diagnostic? {
        let text = value.trimmedDescription
        let base = (type.as(OptionalTypeSyntax.self)?.wrappedType ?? type).trimmedDescription
        guard ["Date", "UUID"].contains(base),
            [".now", ".init()", "\(base).now", "\(base)()", "\(base).init()"].contains(text)
        else { return nil }
        return Problem(
            "changing",
            "The initial value of an attribute is evaluated once for all objects; set '\(name.text)' to '\(text)' in awakeFromInsert()."
        )
        .diagnostic(at: value)
    }

    static func problem(ofArguments relationship: AttributeSyntax, _ type: TypeSyntax) -> Diagnostic? {
        for argument in relationship.arguments?.as(LabeledExprListSyntax.self) ?? [] {
            switch argument.label?.text {
            case "inverse":
                let inverse = argument.expression
                guard !inverse.is(NilLiteralExprSyntax.self),
                    inverse.as(KeyPathExprSyntax.self)?.propertyName == nil
                else { continue }
                return Problem(
                    "inverse",
                    "The inverse must be a literal key path to a relationship of the destination: \\Category.items."
                )
                .diagnostic(at: inverse)
            case "minimumCount", "maximumCount":
                guard !type.isToMany else { continue }
                return Problem(
                    "count",
                    "A to-one relationship has at most one object; remove '\(argument.label?.text ?? "")'."
                )
                .diagnostic(at: argument)
            default: continue
            }
        }
        return nil
    }
}
#endif
