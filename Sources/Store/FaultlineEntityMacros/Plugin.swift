#if Entities
import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        EntityMacro.self, PropertyMacro.self, IgnoredPropertyMacro.self, ConstraintMacro.self,
    ]
}
#else
/// Without the trait there is nothing to expand.
@main
enum Plugin {
    static func main() {}
}
#endif
