internal import FaultlineAnalysis
internal import FaultlineTrace

/// The source files of a program, for formats whose readers look for the paths of a repository.
///
/// A trace names a file as the compiler did, `Groceries/List.swift` after its module, or by a path of the machine that
/// built the program. In the repository it may be `Sources/Groceries/Screens/List.swift`.
package struct RepositoryPaths: Sendable {
    /// The paths and their parts, by the name of the file.
    private let files: [Substring: [(path: String, parts: [Substring])]]

    /// - Parameter paths: The paths as the format shall print them.
    package init(paths: some Sequence<String>) {
        let files = paths.map { (path: $0, parts: $0.split(separator: "/")) }.filter { !$0.parts.isEmpty }
        self.files = Dictionary(grouping: files) { $0.parts[$0.parts.count - 1] }
    }

    /// Returns the path of a file of a trace, or the trace's own if no file matches, or several match equally well.
    func path(of recorded: String) -> String {
        let parts = recorded.split(separator: "/")
        guard let name = parts.last, let candidates = files[name] else { return recorded }
        // After a module's name, the folders are not known.
        let isModule = parts.count == 2 && !recorded.hasPrefix("/")
        let ranked = candidates.map { candidate in
            let common = zip(candidate.parts.reversed(), parts.reversed()).prefix { $0 == $1 }.count
            let isOfModule = isModule && candidate.parts.dropLast().contains(parts[0])
            return (path: candidate.path, rank: isOfModule ? max(common, 2) : common)
        }
        let best = ranked.map(\.rank).max() ?? 0
        let found = ranked.filter { $0.rank == best }
        // A name alone proves nothing, unless the trace has no more.
        guard found.count == 1, best >= min(2, parts.count) else { return recorded }
        return found[0].path
    }
}

extension Finding {
    /// The finding with the paths of source files, as far as they are known.
    func located(in sources: RepositoryPaths?) -> Finding {
        guard let sources else { return self }
        var finding = self
        if let site = finding.change { finding.change?.file = sources.path(of: site.file) }
        for index in finding.seenAt.indices {
            guard let site = finding.seenAt[index].site else { continue }
            finding.seenAt[index].site?.file = sources.path(of: site.file)
        }
        return finding
    }
}
