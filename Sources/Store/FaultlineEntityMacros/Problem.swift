#if Entities
import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// A reason why a declaration cannot be an entity, and the remedy.
struct Problem: DiagnosticMessage {
    let message: String
    let name: String

    var diagnosticID: MessageID { MessageID(domain: "FaultlineEntities", id: name) }
    var severity: DiagnosticSeverity { .error }

    init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    /// Creates a diagnostic at a node, with fix-its that solve the problem.
    func diagnostic(at node: some SyntaxProtocol, fixIts: [FixIt] = []) -> Diagnostic {
        Diagnostic(node: Syntax(node), message: self, fixIts: fixIts)
    }
}

/// The title of a fix-it, without a period.
struct Remedy: FixItMessage {
    let message: String

    var fixItID: MessageID { MessageID(domain: "FaultlineEntities", id: "remedy") }
}

extension FixIt {
    /// Creates a fix-it that replaces a node.
    static func replace(_ message: String, _ old: some SyntaxProtocol, with new: some SyntaxProtocol) -> FixIt {
        FixIt(message: Remedy(message: message), changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }
}
#endif
