package import FaultlineTrace

/// Builds traces with samples of CPU time.
extension TraceBuilder {
    /// The modules that stand for the parts of a program.
    private static let modules = [
        "program": "groceries", "system": "libc.so.6", "sqlite": "libsqlite3.so.0", "store": "groceries",
        "recorder": "libFaultlinePreload.so", "python": "Python",
    ]

    /// Defines the stack of functions, innermost first; 0 for none.
    ///
    /// - Parameter functions: Names of functions of the program, or of other parts: `"sqlite step"`. A name without a part
    ///   belongs to the program. A function without a name, `"sqlite "`, has no symbol.
    package mutating func stack(of functions: [String]) -> DictionaryID {
        guard !functions.isEmpty else { return 0 }
        let addresses = functions.map { text in
            let words = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let (part, name) = words.count == 2 ? (words[0], words[1]) : ("program", words[0])
            // The same function has the same address in every stack.
            let address = "0x" + String(0x10_0000 + StableHash.text(text) % 0x1000_0000, radix: 16)
            let symbol = part == "store" ? "$s14FaultlineStore\(name)" : name
            let function = part == "store" ? "FaultlineStore.\(name)() -> ()" : name
            let location = FrameEntry.Location(
                symbol: symbol, function: function, file: part == "program" ? "/src/\(name).c" : "", line: 1)
            let locations = name.isEmpty ? [] : [location]
            _ = define(
                .frame(FrameEntry(address: address, module: Self.modules[part] ?? part, locations: locations)))
            return address
        }
        return define(.stack(StackEntry(frames: addresses)))
    }

    /// Adds samples of a thread on a CPU, each for 10 ms.
    ///
    /// - Parameter path: The functions, innermost first; the first one ran.
    package mutating func sample(_ path: [String], times: Int = 1, weight: UInt64 = 10_000_000) {
        var sample = TraceEvent.CPUSample()
        sample.weight = weight
        sample.leaf = stack(of: Array(path.prefix(1)))
        let stack = stack(of: Array(path.dropFirst()))
        for _ in 0..<times {
            event(.cpu(sample), stack: stack)
            now += weight
        }
    }
}

/// Builds traces with sampled allocations.
extension TraceBuilder {
    /// Adds a sampled block, which stands for two allocations.
    @discardableResult
    package mutating func allocate(_ bytes: UInt64, at path: [String]) -> EventID {
        var allocation = TraceEvent.Allocation()
        (allocation.size, allocation.bytes, allocation.count) = (bytes / 2, bytes, 2)
        return event(.allocation(allocation), stack: stack(of: path))
    }

    /// Frees a sampled block.
    package mutating func free(_ block: EventID) {
        var allocation = TraceEvent.Allocation()
        allocation.allocation = block
        event(.allocation(allocation))
    }
}
