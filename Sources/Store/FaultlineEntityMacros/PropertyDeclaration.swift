#if Entities
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// A variable of a class as a property of its entity.
struct PropertyDeclaration {
    /// The original token, which has a source location.
    let name: TokenSyntax
    let type: TypeSyntax
    /// The initial value; `nil` if there is none or it is written as `nil`.
    let initialValue: ExprSyntax?
    /// The attribute `@Attribute` or `@Relationship`, if present.
    let marker: AttributeSyntax?
    let isRelationship: Bool
    /// The access level as written: `"private"`, `"public"`; `nil` if omitted.
    let access: String?

    var plainName: String { name.plainText }

    /// The role of a variable in its entity.
    enum Reading {
        case property(PropertyDeclaration)
        /// Not a property: a computed or static variable, or one marked with `@EntityIgnored`.
        case other
        case problem(Diagnostic)
    }

    static func read(_ variable: VariableDeclSyntax) -> Reading {
        if variable.attributes.attribute(named: "EntityIgnored") != nil { return .other }
        let relationship = variable.attributes.attribute(named: "Relationship")
        let marker = relationship ?? variable.attributes.attribute(named: "Attribute")
        if variable.modifiers.contains(where: { ["static", "class"].contains($0.name.text) }) {
            guard let marker else { return .other }
            return .problem(
                Problem(
                    "static",
                    "A type property is not a property of the entity; remove '@\(marker.attributeName.trimmed)'."
                )
                .diagnostic(at: marker))
        }
        guard let binding = variable.bindings.first else { return .other }
        if isComputed(binding), marker == nil { return .other }
        if let problem = problem(of: variable, binding, marker) { return .problem(problem) }
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else { return .other }
        guard let type = binding.typeAnnotation?.type.trimmed ?? binding.initializer.flatMap({ literalType($0.value) })
        else {
            return .problem(
                Problem(
                    "type", "The type of '\(name.text)' cannot be inferred here; write it: 'var \(name.text): Type'."
                )
                .diagnostic(at: name))
        }
        if let written = binding.typeAnnotation?.type,
            let problem = problem(ofType: written, name, isRelationship: relationship != nil)
        {
            return .problem(problem)
        }
        let value = binding.initializer?.value
        if let value, relationship != nil, !value.is(NilLiteralExprSyntax.self) {
            return .problem(
                Problem(
                    "relationshipValue",
                    "A relationship cannot have an initial value; set '\(name.text)' in an initializer."
                )
                .diagnostic(at: value))
        }
        if let value, let problem = problem(ofValue: value, type, name) { return .problem(problem) }
        if let relationship, let problem = problem(ofArguments: relationship, type) { return .problem(problem) }
        return .property(
            PropertyDeclaration(
                name: name, type: type,
                initialValue: value?.is(NilLiteralExprSyntax.self) == true ? nil : value?.trimmed,
                marker: marker, isRelationship: relationship != nil, access: access(of: variable)))
    }

    // MARK: - Generated code

    /// The type as an expression: `Double?.self`.
    var typeExpression: ExprSyntax {
        switch type.kind {
        case .identifierType, .optionalType, .memberType, .arrayType, .dictionaryType: "\(type).self"
        default: "(\(type)).self"
        }
    }

    /// The expression that declares the property to its entity: `EntityProperty(_name, default: "", …)`.
    func entityProperty(at location: AbstractSourceLocation) -> ExprSyntax {
        var arguments = [LabeledExprSyntax(expression: "_\(raw: plainName)" as ExprSyntax)]
        if let initialValue { arguments.append(LabeledExprSyntax(label: "default", expression: initialValue)) }
        if let written = marker?.arguments?.as(LabeledExprListSyntax.self), !written.isEmpty {
            let settings = written.map { argument in
                argument.label?.text == "inverse"
                    ? LabeledExprSyntax(label: "inverse", expression: inverse(argument.expression))
                    : LabeledExprSyntax(
                        label: argument.label?.trimmed, colon: nil, expression: argument.expression.trimmed)
            }
            arguments.append(
                LabeledExprSyntax(
                    expression:
                        "\(raw: isRelationship ? "Relationship" : "Attribute")Settings(\(settings.commaSeparated))"
                        as ExprSyntax))
        }
        arguments.append(LabeledExprSyntax(label: "fileID", expression: location.file))
        arguments.append(LabeledExprSyntax(label: "line", expression: location.line))
        return "EntityProperty(\(arguments.commaSeparated))"
    }

    private func inverse(_ expression: ExprSyntax) -> ExprSyntax {
        guard let name = expression.as(KeyPathExprSyntax.self)?.propertyName else { return ".nothing" }
        return ".named(\(literal: name))"
    }

    static func isComputed(_ binding: PatternBindingSyntax) -> Bool {
        guard let accessors = binding.accessorBlock?.accessors else { return false }
        guard case .accessors(let list) = accessors else { return true }
        return !list.contains { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    }

    /// The access level for setting a variable.
    private static func access(of variable: VariableDeclSyntax) -> String? {
        let levels = ["private", "fileprivate", "internal", "package", "public", "open"]
        let written = variable.modifiers.filter { levels.contains($0.name.text) }
        // `private(set)` takes precedence over `public`.
        return (written.first { $0.detail != nil } ?? written.first)?.name.text
    }

    private static func literalType(_ value: ExprSyntax) -> TypeSyntax? {
        switch value.kind {
        case .integerLiteralExpr: "Int"
        case .floatLiteralExpr: "Double"
        case .stringLiteralExpr: "String"
        case .booleanLiteralExpr: "Bool"
        case .prefixOperatorExpr: literalType(value.cast(PrefixOperatorExprSyntax.self).expression)
        default: nil
        }
    }
}
#endif
