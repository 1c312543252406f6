#if Entities
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// `@Entity`: turns a class into an entity.
enum EntityMacro {
    /// Whether a declaration is a class marked with `@Entity`.
    static func isEntity(_ node: Syntax?) -> Bool {
        node?.as(ClassDeclSyntax.self)?.attributes.attribute(named: "Entity") != nil
    }
}

extension EntityMacro: MemberMacro {
    static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        guard let entity = EntityClass(declaration, node) else {
            context.diagnose(EntityClass.problem(of: declaration, node))
            return []
        }
        for problem in entity.problems { context.diagnose(problem) }
        guard entity.problems.isEmpty else { return [] }
        // A class that inherits from an entity's class already conforms.
        return entity.members(isSubentity: protocols.isEmpty, in: context)
    }
}

extension EntityMacro: MemberAttributeMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingAttributesFor member: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard declaration.is(ClassDeclSyntax.self), let variable = member.as(VariableDeclSyntax.self),
            case .property(let property) = PropertyDeclaration.read(variable), property.marker == nil
        else { return [] }
        return ["@Attribute"]
    }
}

extension EntityMacro: ExtensionMacro {
    static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        guard !protocols.isEmpty, let entity = EntityClass(declaration, node), entity.problems.isEmpty else {
            return []
        }
        return [try ExtensionDeclSyntax("extension \(type.trimmed): Entity {}")]
    }
}
#endif
