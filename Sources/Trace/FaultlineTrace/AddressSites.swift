/// Finds call sites in a program without symbols, from the addresses at which its stacks diverge.
///
/// In a stripped program, nothing distinguishes the program's frames from those of libraries linked into it. All
/// stacks of one operation begin with the same frames of the store and continue with different callers. The frame at
/// which a stack diverges from the one it shares most frames with is the best guess at the call.
struct AddressSites {
    private let dictionary: TraceDictionary
    private let isSystem: @Sendable (String) -> Bool
    /// The number of stacks that begin with a sequence of frames, by a hash of the sequence.
    private var counts: [Int: Int] = [:]

    /// - Parameter isSystem: Whether a module's file name is that of a system library.
    init(_ dictionary: TraceDictionary, isSystem: @escaping @Sendable (String) -> Bool) {
        self.dictionary = dictionary
        self.isSystem = isSystem
        for stack in dictionary.stacks {
            for key in Self.prefixes(stack.addresses) { counts[key, default: 0] += 1 }
        }
    }

    /// Returns the call's address as an offset in its module, or `nil` if no frame belongs to a program without
    /// symbols.
    func site(of stack: StackEntry) -> CallSite? {
        let addresses = stack.addresses
        let nameless = addresses.indices.filter { position in
            guard let frame = dictionary.frame(at: addresses[position]) else { return false }
            return frame.locations.isEmpty && !frame.module.isEmpty && !isSystem(frame.module)
        }
        guard let innermost = nameless.first else { return nil }
        let shared = Self.prefixes(addresses).prefix { (counts[$0] ?? 0) > 1 }.count
        let position = nameless.first { $0 >= shared } ?? nameless.last ?? innermost
        return CallSite(file: "", line: 0, function: name(of: addresses[position]))
    }

    /// The module's name and the offset in its file.
    private func name(of address: UInt64) -> String {
        let module = dictionary.modules.last { module in
            guard let start = Self.number(module.start), let end = Self.number(module.end) else { return false }
            return start <= address && address < end
        }
        let bias = module.flatMap { Self.number($0.bias) } ?? 0
        let name = dictionary.frame(at: address)?.module ?? ""
        return "\(name)+0x\(String(address &- bias, radix: 16))"
    }

    private static func number(_ text: String) -> UInt64? {
        text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : nil
    }

    /// A hash of the first frame, of the first two, and so on.
    private static func prefixes(_ addresses: [UInt64]) -> [Int] {
        var hasher = Hasher()
        return addresses.map { address in
            hasher.combine(address)
            let copy = hasher
            return copy.finalize()
        }
    }
}
