import Foundation

/// The report of "faultline diff" about two traces.
struct Comparison {
    /// Operations whose time changed and nothing else, by their subject and line.
    var times: [String] = []
    /// Operations that are new or gone, or whose counts changed, and scopes with other counts.
    var counts: [String] = []
    /// Findings that are new or gone.
    var findings: [String] = []

    init(_ before: String, _ after: String, on machine: Machine) throws {
        let printed = try machine.run(["faultline", "diff", before, after, "--format", "json"])
        let diff = try JSONDecoder().decode(Diff.self, from: printed)
        for operation in diff.operations where operation.verdict != "same" {
            let name = "\(operation.verdict) \(operation.name)"
            if operation.changes.isEmpty, operation.before != nil, operation.after != nil {
                times.append(name)
            } else {
                counts.append("\(name) \(operation.changes.keys.sorted().joined(separator: ","))")
            }
        }
        for scope in diff.scopes {
            let changed = scope.figures.filter { $0.key != "storeTime" && $0.value.before != $0.value.after }
            if !changed.isEmpty { counts.append("scope \(scope.name)") }
        }
        findings = diff.findings.filter { $0.state != "still" }.map { finding in
            "\(finding.state) \((finding.after ?? finding.before)?.rule ?? "") \((finding.after ?? finding.before)?.title ?? "")"
        }
    }

    // MARK: - The command's output

    private struct Diff: Decodable {
        struct Figure: Decodable {
            var before: UInt64
            var after: UInt64
        }
        struct Site: Decodable {
            var file: String?
            var line: Int?
        }
        struct Group: Decodable {
            var kind: String
            var site: Site?
        }
        struct Operation: Decodable {
            var verdict: String
            var changes: [String: Figure]
            var before: Group?
            var after: Group?
            var name: String {
                let group = after ?? before
                return "\(group?.kind ?? "") \(group?.site?.file ?? ""):\(group?.site?.line ?? 0)"
            }
        }
        struct Scope: Decodable {
            var name: String
            var figures: [String: Figure]
        }
        struct Advice: Decodable {
            var rule: String
            var title: String
        }
        struct Finding: Decodable {
            var state: String
            var before: Advice?
            var after: Advice?
        }
        var operations: [Operation]
        var scopes: [Scope]
        var findings: [Finding]
    }
}
