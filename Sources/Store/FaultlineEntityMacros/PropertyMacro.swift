#if Entities
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Attribute` and `@Relationship`: generate accessors that use a key, and the key itself.
enum PropertyMacro {}

extension PropertyMacro: AccessorMacro {
    static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let variable = declaration.as(VariableDeclSyntax.self),
            case .property(let property) = PropertyDeclaration.read(variable),
            EntityMacro.isEntity(context.lexicalContext.first)
        else {
            // The problem is diagnosed elsewhere; without a getter, the compiler would add an error of its own.
            return ["get { fatalError() }"]
        }
        let key: ExprSyntax = "Self._\(raw: property.plainName)"
        return [
            """
            get {
                self[\(key)]
            }
            """,
            """
            set {
                self[\(key)] = newValue
            }
            """,
        ]
    }
}

extension PropertyMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let variable = declaration.as(VariableDeclSyntax.self) else {
            context.diagnose(
                Problem(
                    "place", "'@\(node.attributeName.trimmed)' can be applied only to a property of an entity's class."
                )
                .diagnostic(at: node))
            return []
        }
        guard EntityMacro.isEntity(context.lexicalContext.first) else {
            context.diagnose(
                Problem(
                    "place",
                    "'@\(node.attributeName.trimmed)' can be applied only to a property of an entity's class; mark the class with @Entity."
                ).diagnostic(at: node))
            return []
        }
        // Problems of the property are diagnosed when the class is expanded.
        guard case .property(let property) = PropertyDeclaration.read(variable) else { return [] }
        let initialValue = property.initialValue.map { ", default: \($0)" as ExprSyntax }
        return [
            """
            private static let _\(raw: property.plainName) = EntityKey.make(\(literal: property.plainName), \(property.typeExpression)\(raw: initialValue?.description ?? ""))
            """
        ]
    }
}

/// `@EntityIgnored`: a marker that `@Entity` reads; expands to nothing.
enum IgnoredPropertyMacro: PeerMacro {
    static func expansion(
        of node: AttributeSyntax, providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] { [] }
}

/// `#Unique` and `#Index`: markers that `@Entity` reads; expand to nothing.
enum ConstraintMacro: DeclarationMacro {
    static func expansion(
        of node: some FreestandingMacroExpansionSyntax, in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard EntityMacro.isEntity(context.lexicalContext.first) else {
            context.diagnose(
                Problem(
                    "place",
                    "'#\(node.macroName.text)' can be used only in an entity's class; mark the class with @Entity."
                )
                .diagnostic(at: node))
            return []
        }
        return []
    }
}
#endif
