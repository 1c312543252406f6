import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// Something that cannot be made an entity of, and what to do about it.
struct Problem: DiagnosticMessage {
    let message: String
    let name: String

    var diagnosticID: MessageID { MessageID(domain: "FaultlineEntities", id: name) }
    var severity: DiagnosticSeverity { .error }

    init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }

    /// The problem at its token, with changes that solve it.
    func diagnostic(at node: some SyntaxProtocol, fixIts: [FixIt] = []) -> Diagnostic {
        Diagnostic(node: Syntax(node), message: self, fixIts: fixIts)
    }
}

/// What a fix-it does, in a sentence without an end.
struct Remedy: FixItMessage {
    let message: String

    var fixItID: MessageID { MessageID(domain: "FaultlineEntities", id: "remedy") }
}

extension FixIt {
    /// Puts another node in the place of one.
    static func replace(_ message: String, _ old: some SyntaxProtocol, with new: some SyntaxProtocol) -> FixIt {
        FixIt(message: Remedy(message: message), changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }
}
