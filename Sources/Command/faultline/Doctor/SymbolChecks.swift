import CSQLite
import FaultlineReader
import FaultlineTrace
import Foundation

/// Checks with this program whether stacks are complete and addresses resolve to functions and lines.
struct SymbolChecks: Examination {
    /// The servers for debug information, or `nil` if there are none.
    let servers: String?

    private static let framePointers = Subject(
        name: "frame pointers", why: "The recorder follows them; code without them cuts the stack short.")
    private static let addresses = Subject(
        name: "own addresses", why: "Advice names the line to change, from the program's debug information.")
    private static let libraries = Subject(
        name: "libraries", why: "Frames of libraries without lines show functions only; advice does not need more.")
    private static let debuginfod = Subject(
        name: "debuginfod",
        why: "Missing debug information is fetched from servers, and a report waits for it.")

    var silence: Check {
        Self.addresses.failed("this program's file \(Doctor.silence)", "Check the file system that holds it.")
    }

    func checks() -> [Check] {
        let chain = CallChain()
        let resolver = SymbolResolver()
        return [framePointers(chain), addresses(chain, resolver), libraries(chain, resolver), debuginfodCheck()]
    }

    private func framePointers(_ chain: CallChain) -> Check {
        let found = "\(chain.callsFound) of \(CallChain.calls) nested calls are in the stack"
        guard chain.callsFound == CallChain.calls else {
            return Self.framePointers.failed(
                found, "Build with swift build, or with swiftc -Xcc -fno-omit-frame-pointer.")
        }
        return Self.framePointers.ok(found)
    }

    private func addresses(_ chain: CallChain, _ resolver: SymbolResolver) -> Check {
        let locations = resolver.frames(for: chain.stack, modules: chain.modules).flatMap(\.locations)
        let own = locations.first {
            $0.file.hasSuffix("/" + CallChain.file) && $0.line > 0 && !$0.function.isEmpty
        }
        if let own {
            return Self.addresses.ok("this program's addresses have functions and lines: \(CallChain.file):\(own.line)")
        }
        let remedy = "Keep the debug information of the programs that you record: use neither -gnone nor strip."
        if let problem = resolver.problems.first { return Self.addresses.warning("not found", problem.description) }
        if locations.contains(where: { $0.function.contains("CallChain") }) {
            return Self.addresses.warning("functions without lines: this program has no DWARF", remedy)
        }
        return Self.addresses.warning("no functions, no lines: this program was stripped", remedy)
    }

    /// A function of each library that occurs in the stacks of stores.
    private static let known = ["sqlite3_step", "swift_retain", "malloc"]

    private func libraries(_ chain: CallChain, _ resolver: SymbolResolver) -> Check {
        var names: [String] = []
        var bare: [String] = []
        var whole: [String] = []
        for function in Self.known {
            // The address is past the first instruction, like a return address.
            guard let address = dlsym(nil, function), let path = SharedLibrary.path(at: address) else { continue }
            let frame = resolver.frames(for: [UInt64(UInt(bitPattern: address)) + 1], modules: chain.modules).first
            let library = path.split(separator: "/").last?.split(separator: ".").first.map(String.init) ?? path
            if frame?.locations.contains(where: { $0.line > 0 }) ?? false {
                whole.append(library)
            } else if frame?.locations.isEmpty ?? true {
                bare.append(library)
            } else {
                names.append(library)
            }
        }
        let parts = [("lines", whole), ("functions only", names), ("no names", bare)].filter { !$0.1.isEmpty }
        return Self.libraries.ok(parts.map { "\($0.0): \($0.1.joined(separator: ", "))" }.joined(separator: "; "))
    }

    private func debuginfodCheck() -> Check {
        let count = servers?.split(separator: " ").count ?? 0
        guard count > 0 else { return Self.debuginfod.ok("DEBUGINFOD_URLS names no server") }
        return Self.debuginfod.ok(
            "DEBUGINFOD_URLS names \(count == 1 ? "1 server" : "\(count) servers"): reports may wait")
    }
}
