internal import FaultlineProfile

/// A statement's operations and their tables, as OpenTelemetry's `db.query.summary`: `SELECT book author`.
///
/// It has few values, so that a tracing system can group spans by it.
/// https://opentelemetry.io/docs/specs/semconv/database/database-spans/#generating-a-summary-of-the-query
enum QuerySummary {
    /// The maximum length, which the conventions recommend.
    private static let longest = 255

    static func text(of sql: String) -> String {
        let tokens = StatementText.tokens(of: sql)
        let depths = StatementText.depths(of: tokens)
        var words: [String] = []
        for (place, token) in tokens.enumerated() where token.isName && !token.isQuoted {
            switch token.text.uppercased() {
            case "SELECT": words.append("SELECT")
            case "INSERT", "UPDATE", "DELETE", "REPLACE":
                // Elsewhere they are functions, or parts of an INSERT such as DO UPDATE.
                guard place == 0 || depths[place] == 0 && tokens[place - 1].text == ")",
                    tokens.dropFirst(place + 1).first?.text != "("
                else { break }
                words.append(token.text.uppercased())
                if token.isKeyword("UPDATE") { words += name(after: skippingOr(place, tokens), in: tokens) }
            case "FROM", "JOIN", "INTO": words += name(after: place, in: tokens)
            case "TABLE", "INDEX", "VIEW", "TRIGGER":
                // CREATE TEMP TABLE IF NOT EXISTS item
                guard let first = words.first, schemaVerbs.contains(first), words.count == 1 else { break }
                let rest = tokens[(place + 1)...].prefix { ["IF", "NOT", "EXISTS"].contains($0.text.uppercased()) }
                words += [token.text.uppercased()] + name(after: rest.endIndex - 1, in: tokens)
            default: if place == 0, !token.isKeyword("WITH") { words.append(token.text.uppercased()) }
            }
        }
        if words.first == "PRAGMA" { words += name(after: 0, in: tokens) }
        var text = ""
        for word in words where text.utf8.count + word.utf8.count < longest { text += (text.isEmpty ? "" : " ") + word }
        return text
    }

    private static let schemaVerbs: Set<String> = ["CREATE", "DROP", "ALTER"]

    /// The place of the last word of `UPDATE OR FAIL`.
    private static func skippingOr(_ place: Int, _ tokens: [StatementText.Token]) -> Int {
        tokens.indices.contains(place + 2) && tokens[place + 1].isKeyword("OR") ? place + 2 : place
    }

    /// The name behind a word, or none if something else is there.
    private static func name(after place: Int, in tokens: [StatementText.Token]) -> [String] {
        (StatementText.name(at: place + 1, in: tokens[...])?.joined(separator: ".")).map { [$0] } ?? []
    }
}
