/// A module whose addresses could not be resolved.
package struct SymbolProblem: Sendable, Hashable, CustomStringConvertible {
    /// The reason why a module has no symbols.
    package enum Reason: Sendable, Hashable {
        /// There is no file at its path.
        case missing
        /// The file is not an ELF file, or cannot be read.
        case unreadable
        /// The file's build ID differs from that of the module that ran.
        case rebuilt
    }

    /// The module's path.
    package var path: String
    package var reason: Reason

    package init(path: String, reason: Reason) {
        self.path = path
        self.reason = reason
    }

    package var description: String {
        switch reason {
        case .missing: "No symbols from \"\(path)\": there is no such file; resolve symbols on the recording machine."
        case .unreadable: "No symbols from \"\(path)\": it cannot be read as a program or library; check the file."
        case .rebuilt: "No symbols from \"\(path)\": it was rebuilt after the recording; record again."
        }
    }
}
