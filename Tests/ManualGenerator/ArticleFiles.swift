import FaultlineRules
import Foundation

/// The generated articles of a documentation catalog.
struct ArticleFiles {
    private static let folders = ["Commands", "Rules"]
    private let files: [(name: String, text: String)]

    init(of command: DescribedCommand) throws {
        let commands = try command.help().pages().map { words, help in
            let article = CommandArticle(
                words: words, help: help, optionalValues: try command.optionalValues(of: words))
            return (name: "Commands/\(article.name).md", text: article.text)
        }
        let rules = RulePage.all.map(RuleArticle.init).map { (name: "Rules/\($0.name).md", text: $0.text) }
        files = commands + rules + [(name: "Rules/Rules.md", text: RuleArticle.index)]
    }

    /// Writes the files that differ, and removes those of commands and rules that are gone.
    ///
    /// - Returns: The names of these files.
    func update(_ catalog: URL, isCheck: Bool) throws -> [String] {
        var stale: [String] = []
        for (name, text) in files {
            let file = catalog.appendingPathComponent(name)
            guard (try? String(contentsOf: file, encoding: .utf8)) != text else { continue }
            stale.append(name)
            guard !isCheck else { continue }
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        for folder in Self.folders {
            let present = try? FileManager.default.contentsOfDirectory(
                atPath: catalog.appendingPathComponent(folder).path)
            for name in (present ?? []).map({ "\(folder)/\($0)" }).sorted()
            where !files.contains(where: { $0.name == name }) {
                stale.append(name)
                if !isCheck { try FileManager.default.removeItem(at: catalog.appendingPathComponent(name)) }
            }
        }
        return stale
    }
}
