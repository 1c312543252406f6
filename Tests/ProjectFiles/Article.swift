import Foundation

/// A file of the documentation with its code samples.
package struct Article: CustomStringConvertible {
    /// A code block between two fences.
    package struct Sample {
        /// The word after the opening fence, or nothing.
        package var language: String
        /// The number of the first line of code.
        package var line: Int
        package var lines: [Substring]
    }

    /// The path in the package.
    package let path: String
    package let samples: [Sample]

    package var description: String { path }

    /// The name of the file without its extension.
    package var name: String { URL(fileURLWithPath: path).deletingPathExtension().lastPathComponent }

    /// The README and every article of a documentation catalog, sorted by path.
    ///
    /// Those that are made from the help and from `explain` are among them; the advice in them is no sample.
    package static let all: [Article] = {
        let sources = ProjectFolder.url.appendingPathComponent("Sources").path
        let files = (try? FileManager.default.subpathsOfDirectory(atPath: sources)) ?? []
        let articles = files.filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.sorted()
        return (["README.md"] + articles.map { "Sources/" + $0 }).map(Article.init)
    }()

    /// Reads an article of the package.
    ///
    /// An unreadable file has no samples, which a test reports.
    private init(path: String) {
        let url = ProjectFolder.url.appendingPathComponent(path)
        self.init(path: path, text: (try? String(contentsOf: url, encoding: .utf8)) ?? "")
    }

    /// Finds the code blocks of a text.
    ///
    /// A block that does not end extends to the end of the text.
    package init(path: String, text: String) {
        var samples: [Sample] = []
        var open: Sample?
        for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let content = line.drop { $0 == " " }
            if content.hasPrefix("```") {
                if let sample = open {
                    samples.append(sample)
                    open = nil
                } else {
                    open = Sample(language: String(content.dropFirst(3)), line: index + 2, lines: [])
                }
            } else {
                open?.lines.append(line)
            }
        }
        if let open { samples.append(open) }
        self.path = path
        self.samples = samples
    }

    /// The samples in one of the languages.
    package func samples(in languages: String...) -> [Sample] {
        samples.filter { languages.contains($0.language) }
    }
}
