import Foundation
import ProjectFiles

/// The Swift samples of an article as one program for the compiler.
///
/// Imports and types are at the top of the file. Statements are in a function, each sample in a scope nested in those of
/// the samples before it. A sample can therefore use what an earlier one declares, and can declare the same names again.
///
/// Declarations that an article takes for granted, such as a container or an entity's class, are in the files of `Samples`
/// that have the name of its catalog and its own name. An article that shows no import gets the imports of these files; an
/// article that shows one must show all. The compiler reports errors at the lines of the article.
struct SampleProgram {
    /// The modules that the program imports.
    let imports: Set<String>
    let text: String
    /// The paths of the files with what the article takes for granted.
    let given: [String]

    init(_ article: Article) {
        given = Self.given(for: article)
        let parts = article.samples(in: "swift").map { Part($0.lines, file: article.path, line: $0.line) }
        var imports = Set(parts.flatMap(\.imports))
        if imports.isEmpty {
            for file in given {
                let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
                imports.formUnion(Part(text.split(separator: "\n"), file: file, line: 1).imports)
            }
        }
        self.imports = imports
        let scopes = parts.flatMap { ["do {", $0.statements] } + [String(repeating: "}\n", count: parts.count)]
        text = """
            \(imports.sorted().map { "import \($0)" }.joined(separator: "\n"))
            \(parts.map(\.declarations).joined(separator: "\n"))
            func samples() async throws {
            \(scopes.joined(separator: "\n"))
            }

            """
    }

    private static func given(for article: Article) -> [String] {
        let catalog = article.path.split(separator: "/").first { $0.hasSuffix(".docc") }?.dropLast(".docc".count)
        let names = Set([article.name] + (catalog.map { [String($0)] } ?? []))
        return names.sorted().map {
            BuiltCommand.package.appendingPathComponent("Tests/Integration/Samples/\($0).swift").path
        }
        .filter(FileManager.default.fileExists)
    }
}

extension SampleProgram {
    /// The lines of a sample, sorted into those that belong to the file and those that belong to the function.
    private struct Part {
        private(set) var imports: [String] = []
        private(set) var declarations: String
        private(set) var statements: String

        /// Sorts lines.
        ///
        /// A declaration begins at the margin and ends with the brace that closes it.
        init(_ lines: [Substring], file: String, line: Int) {
            declarations = "#sourceLocation(file: \"\(file)\", line: \(line))\n"
            statements = declarations
            var depth = 0
            for line in lines {
                let name = line.prefixMatch(of: /import (\w+)/)?.1
                if let name { imports.append(String(name)) }
                let isDeclared = depth > 0 || Self.beginsDeclaration(line)
                if isDeclared { depth += line.count { $0 == "{" } - line.count { $0 == "}" } }
                // Both have a line for each line of the sample, because the compiler counts them.
                declarations += (isDeclared ? line : "") + "\n"
                statements += (isDeclared || name != nil ? "" : line) + "\n"
            }
        }

        private static func beginsDeclaration(_ line: Substring) -> Bool {
            let attributes = /(@\w+(\([^)]*\))? )*((public|private|final|indirect|nonisolated) )*/
            let keyword = /(class|struct|enum|protocol|actor|extension|typealias)\b/
            return line.trimmingPrefix(attributes).prefixMatch(of: keyword) != nil
        }
    }
}
