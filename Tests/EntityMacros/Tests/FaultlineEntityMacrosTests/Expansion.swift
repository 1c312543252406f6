import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

@testable import FaultlineEntityMacros

/// Returns the macros by name, as the compiler knows them, for a class that may inherit from an entity.
func macroSpecs(isSubentity: Bool = false) -> [String: MacroSpec] {
    [
        "Entity": MacroSpec(type: EntityMacro.self, conformances: isSubentity ? [] : ["Entity"]),
        "Attribute": MacroSpec(type: PropertyMacro.self), "Relationship": MacroSpec(type: PropertyMacro.self),
        "EntityIgnored": MacroSpec(type: IgnoredPropertyMacro.self), "Index": MacroSpec(type: ConstraintMacro.self),
        "Unique": MacroSpec(type: ConstraintMacro.self),
    ]
}

/// The compiler's diagnostics of a source, and the source after applying the first fix-it of each.
struct Complaints {
    /// The messages, each after the rest of the line that it points to: `"let name: the message"`.
    let messages: [String]
    let fixed: String?

    init(_ source: String) {
        let file = Parser.parse(source: source)
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "App", fullFilePath: "App/Item.swift")])
        _ = file.expand(
            macroSpecs: macroSpecs(),
            contextGenerator: {
                BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
            },
            indentationWidth: .spaces(4))
        messages = context.diagnostics.map { diagnostic in
            let place = context.location(for: diagnostic.position, anchoredAt: diagnostic.node, fileName: "Item.swift")
            let rest = source.utf8.dropFirst(place.offset).prefix { $0 != UInt8(ascii: "\n") }
            return "\(String(decoding: rest.prefix(12), as: UTF8.self))| \(diagnostic.message)"
        }
        let changes = context.diagnostics.compactMap { $0.fixIts.first }.flatMap(\.changes)
        fixed =
            changes.isEmpty
            ? nil
            : changes.reduce(source) { source, change in
                guard case .replace(let old, let new) = change else { return source }
                let start = context.location(for: old.position, anchoredAt: old, fileName: "Item.swift").offset
                let bytes = Array(source.utf8)
                return String(
                    decoding: bytes[..<start] + Array(new.description.utf8)
                        + bytes[(start + old.totalLength.utf8Length)...],
                    as: UTF8.self)
            }
    }
}

/// Returns a source with its macros expanded.
func expansion(of source: String) -> String {
    let file = Parser.parse(source: source)
    let context = BasicMacroExpansionContext(
        sourceFiles: [file: .init(moduleName: "App", fullFilePath: "App/Item.swift")])
    return file.expand(
        macroSpecs: macroSpecs(),
        contextGenerator: {
            BasicMacroExpansionContext(sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
        },
        indentationWidth: .spaces(4)
    ).description
}

func expectExpansion(
    _ source: String, _ expanded: String, isSubentity: Bool = false,
    sourceLocation: Testing.SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source, expandedSource: expanded, macroSpecs: macroSpecs(isSubentity: isSubentity), testModuleName: "App",
        testFileName: "Item.swift",
        failureHandler: { Issue.record(Comment(rawValue: $0.message), sourceLocation: sourceLocation) })
}
