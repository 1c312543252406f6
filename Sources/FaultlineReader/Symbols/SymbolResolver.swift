public import FaultlineTrace
import Glibc

/// Finds the functions and source lines that addresses of a recorded process stand for.
///
/// From the ELF files and their DWARF, on the machine that recorded. A file is trusted only if its build ID is the
/// one that the trace names; what is missing or was built anew gives frames with the module's name alone, and is
/// told in ``problems``.
///
/// Not for more than one thread at a time.
public final class SymbolResolver {
    private struct File: Hashable {
        var path: String
        var buildID: String
    }

    private var files: [File: ELFFile?] = [:]
    /// The modules that gave no symbols, each once, in the order in which they were met.
    public internal(set) var problems: [SymbolProblem] = []

    public init() {}

    /// What each address means.
    ///
    /// - Parameters:
    ///   - addresses: Return addresses, as they stand in stacks. What is looked up is the call before each.
    ///   - modules: What was mapped into the process, from its dictionary.
    /// - Returns: One frame for each distinct address, in the order of their first appearance. An address in no module
    ///   has an empty module name; one without symbols has no locations.
    /// - Complexity: Each address of a file is looked up once, each file opened once in the resolver's life.
    public func frames(for addresses: [UInt64], modules: [ModuleEntry]) -> [FrameEntry] {
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
        // The instruction behind a call can belong to the next line, or to the next function.
        let call = address &- 1
        // The last one mapped there: a library can take the place of one that was closed.
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
        // The kernel's own page of code is a module without a file.
        guard module.path.hasPrefix("/") else { return nil }
        guard access(module.path, F_OK) == 0 else {
            problems.append(SymbolProblem(path: module.path, reason: .missing))
            return nil
        }
        guard let file = ELFFile(path: module.path) else {
            problems.append(SymbolProblem(path: module.path, reason: .unreadable))
            return nil
        }
        // Files without a build ID cannot be told apart, and are taken at their word.
        guard file.buildID == module.buildID.lowercased() else {
            problems.append(SymbolProblem(path: module.path, reason: .rebuilt))
            return nil
        }
        return file
    }
}
