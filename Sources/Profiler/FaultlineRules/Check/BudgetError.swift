internal import FaultlineProfile
import Foundation

/// The error for a file with a budget or thresholds that cannot be used.
package struct BudgetError: Error, Sendable, Hashable {
    /// The problem, in words that follow the file's name: `"is not JSON (Unexpected end of file during JSON parse)"`.
    package var reason: String

    /// Runs `body` on the contents of a file.
    static func reading(_ data: Data, _ body: (StoredValue) throws -> Void) throws(BudgetError) {
        let file: StoredValue
        do {
            file = try StoredValue(json: data)
        } catch {
            throw BudgetError(reason: "is not JSON" + (syntaxError(error, in: data).map { " (\($0))" } ?? ""))
        }
        if let member = RepeatedMember.first(in: data) {
            throw BudgetError(reason: "cannot be used: it has \"\(member.joined(separator: "."))\" twice")
        }
        do {
            try body(file)
        } catch let problem as StoredProblem {
            throw BudgetError(reason: "cannot be used: \(problem.sentence)")
        } catch {
            throw BudgetError(reason: "cannot be used")
        }
    }

    /// Foundation's reason why data is not JSON, with the line: `"Invalid value around character 27, line 3"`.
    private static func syntaxError(_ error: any Error, in data: Data) -> String? {
        guard let text = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String else { return nil }
        let reason = text.hasSuffix(".") ? String(text.dropLast()) : text
        guard let place = reason.firstMatch(of: /around character ([0-9]+)/), let index = Int(place.1) else {
            return reason
        }
        return "\(reason), line \(1 + data.prefix(index).count { $0 == UInt8(ascii: "\n") })"
    }
}
