package import FaultlineTrace
import Glibc

/// Resolves addresses of a recorded process to functions and source lines.
///
/// The resolver reads ELF files and their DWARF, on the machine that recorded. It trusts a file only if its build ID
/// is the one in the trace. For a missing or rebuilt file, frames have only the module's name, and ``problems`` lists
/// the module.
///
/// Use it from one thread at a time.
package final class SymbolResolver {
    private struct File: Hashable {
        var path: String
        var buildID: String
    }

    private var files: [File: ELFFile?] = [:]
    /// The modules without symbols, each once, in the order in which they were met.
    package internal(set) var problems: [SymbolProblem] = []

    package init() {}

    /// Resolves addresses to frames.
    ///
    /// - Parameters:
    ///   - addresses: Return addresses from stacks. The resolver looks up the call before each.
    ///   - modules: The modules mapped into the process, from its dictionary.
    /// - Returns: One frame for each distinct address, in the order of their first appearance. An address outside all
    ///   modules has an empty module name; one without symbols has no locations.
    /// - Complexity: Each address of a file is looked up once, and each file is opened once in the resolver's life.
    package func frames(for addresses: [UInt64], modules: [ModuleEntry]) -> [FrameEntry] {
        let spaces = modules.compactMap(Space.init)
        var seen: Set<UInt64> = []
        var frames: [FrameEntry] = []
        for address in addresses where seen.insert(address).inserted {
            frames.append(frame(at: address, in: spaces))
        }
        return frames
    }

    private func frame(at address: UInt64, in spaces: [Space]) -> FrameEntry {
        let text = "0x" + String(address, radix: 16)
        // The instruction after a call can belong to the next line or the next function.
        let call = address &- 1
        // The module mapped there last, since a library can replace one that was unloaded.
        guard let space = spaces.last(where: { $0.start <= call && call < $0.end }) else {
            return FrameEntry(address: text, module: "", locations: [])
        }
        let locations = file(for: space.module)?.locations(at: call &- space.bias) ?? []
        return FrameEntry(address: text, module: space.name, locations: locations)
    }

    /// A module with its addresses as numbers.
    private struct Space {
        var module: ModuleEntry
        var start: UInt64
        var end: UInt64
        var bias: UInt64
        var name: String

        init?(_ module: ModuleEntry) {
            guard let start = Self.number(module.start), let end = Self.number(module.end),
                let bias = Self.number(module.bias)
            else { return nil }
            self.module = module
            self.start = start
            self.end = end
            self.bias = bias
            name = module.path.split(separator: "/").last.map(String.init) ?? module.path
        }

        private static func number(_ text: String) -> UInt64? {
            text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : nil
        }
    }

    private func file(for module: ModuleEntry) -> ELFFile? {
        let key = File(path: module.path, buildID: module.buildID)
        if let known = files[key] { return known }
        let file = open(module)
        files[key] = .some(file)
        return file
    }

    private func open(_ module: ModuleEntry) -> ELFFile? {
        // The kernel's own page of code (the vDSO) is a module without a file.
        guard module.path.hasPrefix("/") else { return nil }
        guard access(module.path, F_OK) == 0 else {
            problems.append(SymbolProblem(path: module.path, reason: .missing))
            return nil
        }
        guard let file = ELFFile(path: module.path) else {
            problems.append(SymbolProblem(path: module.path, reason: .unreadable))
            return nil
        }
        // Files without a build ID are accepted, since they cannot be told apart.
        guard file.buildID == module.buildID.lowercased() else {
            problems.append(SymbolProblem(path: module.path, reason: .rebuilt))
            return nil
        }
        return file
    }
}
