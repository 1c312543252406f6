#if Entities
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacros

/// An index or a uniqueness constraint of a class: `#Index<Item>([\.name])`, `#Unique<Item>([\.name])`.
struct ConstraintDeclaration {
    private struct Element {
        var property: String
        var isAscending = true
    }

    /// The expression that declares it.
    let node: ExprSyntax
    /// The name of an index.
    let name: String
    private let elements: [Element]

    private init(_ node: ExprSyntax, named name: String? = nil, _ elements: [Element]) {
        self.node = node
        self.elements = elements
        self.name =
            name
            ?? "by"
            + elements.map { $0.property.prefix(1).uppercased() + $0.property.dropFirst() }.joined(separator: "And")
    }

    typealias Reading = (declarations: [ConstraintDeclaration], problems: [Diagnostic])

    static func readConstraints(_ expansion: MacroExpansionDeclSyntax) -> Reading { readLists(expansion) }

    /// Reads indexes on lists of key paths, or one index with a name and elements with a direction.
    static func readIndexes(_ expansion: MacroExpansionDeclSyntax) -> Reading {
        guard let first = expansion.arguments.first, expansion.arguments.count > 1,
            !first.expression.is(ArrayExprSyntax.self)
        else {
            return readLists(expansion)
        }
        guard let text = first.expression.as(StringLiteralExprSyntax.self)?.segments, text.count == 1,
            let name = text.first?.as(StringSegmentSyntax.self)?.content.text
        else {
            return (
                [],
                [
                    Problem("indexName", "The name of an index must be a string literal: \"byName\".").diagnostic(
                        at: first.expression)
                ]
            )
        }
        var elements: [Element] = []
        for argument in expansion.arguments.dropFirst() {
            guard let call = argument.expression.as(FunctionCallExprSyntax.self),
                let direction = call.calledExpression.as(MemberAccessExprSyntax.self)?.declName.baseName.text,
                let path = call.arguments.first?.expression, let property = property(path)
            else { return ([], [notOfEntity(argument.expression)]) }
            elements.append(Element(property: property, isAscending: direction == "ascending"))
        }
        return ([ConstraintDeclaration(first.expression, named: name, elements)], [])
    }

    private static func readLists(_ expansion: MacroExpansionDeclSyntax) -> Reading {
        var reading: Reading = ([], [])
        for argument in expansion.arguments {
            guard let list = argument.expression.as(ArrayExprSyntax.self) else {
                reading.problems.append(
                    Problem(
                        "list",
                        "'#\(expansion.macroName.text)' takes literal lists of key paths: [\\.name]."
                    )
                    .diagnostic(at: argument.expression))
                continue
            }
            var elements: [Element] = []
            for item in list.elements {
                if let property = property(item.expression) {
                    elements.append(Element(property: property))
                } else {
                    reading.problems.append(notOfEntity(item.expression))
                }
            }
            if elements.count == list.elements.count {
                reading.declarations.append(ConstraintDeclaration(argument.expression, elements))
            }
        }
        return reading
    }

    private static func property(_ expression: ExprSyntax) -> String? {
        expression.as(KeyPathExprSyntax.self)?.propertyName
    }

    private static func notOfEntity(_ expression: ExprSyntax) -> Diagnostic {
        Problem("element", "Each element must be a key path to a property of the entity itself: \\.name.").diagnostic(
            at: expression)
    }

    // MARK: - Generated code

    /// The names as an expression: `["name", "price"]`.
    var names: String { "[\(elements.map { "\"\($0.property)\"" }.joined(separator: ", "))]" }

    func indexDescription(at location: AbstractSourceLocation) -> String {
        let list = elements.map { element in
            ".init(\"\(element.property)\"\(element.isAscending ? "" : ", isAscending: false"))"
        }
        return
            "FetchIndexDescription(\"\(name)\", elements: [\(list.joined(separator: ", "))], fileID: \(location.file), line: \(location.line))"
    }
}
#endif
