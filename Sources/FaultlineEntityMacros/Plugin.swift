import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        EntityMacro.self, PropertyMacro.self, IgnoredPropertyMacro.self, ConstraintMacro.self,
    ]
}
