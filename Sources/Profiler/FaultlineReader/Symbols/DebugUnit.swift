import CElfutils
import FaultlineTrace

/// A compilation unit of a file's DWARF.
final class DebugUnit {
    private var unit: Dwarf_Die
    /// The difference between the file's addresses and the DWARF's.
    private let bias: UInt64
    private lazy var functions = makeFunctions()
    private lazy var directory = Self.string(UInt32(DW_AT_comp_dir), of: &unit) ?? ""

    init(_ unit: Dwarf_Die, bias: UInt64) {
        self.unit = unit
        self.bias = bias
    }

    /// The function at an address of the file and the calls inlined there, innermost first; empty if there is none.
    func locations(at fileAddress: UInt64) -> [FrameEntry.Location] {
        let address = fileAddress &- bias
        let chain = chain(at: address)
        guard let innermost = chain.last else { return [] }
        var locations: [FrameEntry.Location] = []
        var (file, line) = location(at: address)
        if line == 0, let near = lineBefore(address, in: innermost) { (file, line) = near }
        for var die in chain.reversed() {
            let symbol = Self.symbol(of: die)
            locations.append(
                FrameEntry.Location(symbol: symbol, function: SymbolName.words(for: symbol), file: file, line: line))
            // The next function out is at the line that called this one.
            (file, line) = callLine(of: &die)
        }
        return locations
    }

    // MARK: - Places

    private func location(at address: UInt64) -> (file: String, line: Int) {
        guard let row = dwarf_getsrc_die(&unit, address), let file = dwarf_linesrc(row, nil, nil) else {
            return ("", 0)
        }
        var line: Int32 = 0
        dwarf_lineno(row, &line)
        return (path(file), Int(line))
    }

    /// The nearest line before an address that belongs to the same function.
    ///
    /// If the optimizer merged two calls, the instruction has line 0, and the call would be taken for
    /// compiler-generated code.
    private func lineBefore(_ address: UInt64, in innermost: Dwarf_Die) -> (file: String, line: Int)? {
        var innermost = innermost
        let wanted = dwarf_dieoffset(&innermost)
        var rows: OpaquePointer?
        var count = 0
        guard dwarf_getsrclines(&unit, &rows, &count) == 0 else { return nil }
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if Self.address(of: dwarf_onesrcline(rows, middle)) <= address { low = middle + 1 } else { high = middle }
        }
        // Only nearby rows count; a distant one would be a guess.
        for index in stride(from: low - 1, through: max(0, low - 64), by: -1) {
            let row = dwarf_onesrcline(rows, index)
            var line: Int32 = 0
            guard dwarf_lineno(row, &line) == 0, line > 0, let file = dwarf_linesrc(row, nil, nil) else { continue }
            guard var last = chain(at: Self.address(of: row)).last else { return nil }
            if dwarf_dieoffset(&last) == wanted { return (path(file), Int(line)) }
        }
        return nil
    }

    private static func address(of row: OpaquePointer?) -> UInt64 {
        var address: UInt64 = 0
        return dwarf_lineaddr(row, &address) == 0 ? address : .max
    }

    private func callLine(of die: inout Dwarf_Die) -> (file: String, line: Int) {
        guard let index = Self.number(UInt32(DW_AT_call_file), of: &die) else { return ("", 0) }
        var files: OpaquePointer?
        var count = 0
        guard dwarf_getsrcfiles(&unit, &files, &count) == 0, index < count else { return ("", 0) }
        guard let file = dwarf_filesrc(files, Int(index), nil, nil) else { return ("", 0) }
        let line = Self.number(UInt32(DW_AT_call_line), of: &die) ?? 0
        return (path(file), Int(clamping: line))
    }

    /// A file's path, made absolute with the unit's compilation directory: in DWARF 5, names can be relative to it.
    private func path(_ file: UnsafePointer<CChar>) -> String {
        let name = String(cString: file)
        // "<compiler-generated>" has no directory, but libdw gives it one.
        if let mark = name.lastIndex(of: "<"), name.hasSuffix(">") { return String(name[mark...]) }
        if name.hasPrefix("/") || directory.isEmpty { return name }
        return directory + "/" + (name.hasPrefix("./") ? String(name.dropFirst(2)) : name)
    }

    // MARK: - Functions

    private struct Function {
        var start: UInt64
        var end: UInt64
        var die: Dwarf_Die
    }

    /// The function at an address and then the calls inlined there, from the outside in.
    private func chain(at address: UInt64) -> [Dwarf_Die] {
        guard let function = function(at: address) else { return [] }
        var chain = [function]
        descend(from: function, to: address, &chain)
        return chain
    }

    private func function(at address: UInt64) -> Dwarf_Die? {
        var low = 0
        var high = functions.count
        while low < high {
            let middle = (low + high) / 2
            if functions[middle].start <= address { low = middle + 1 } else { high = middle }
        }
        guard low > 0, address < functions[low - 1].end else { return nil }
        return functions[low - 1].die
    }

    /// All functions with code.
    ///
    /// Swift's functions are children of modules and types, where `dwarf_getscopes` does not look.
    private func makeFunctions() -> [Function] {
        var functions: [Function] = []
        var pending = Self.children(of: unit)
        while var die = pending.popLast() {
            switch Int(dwarf_tag(&die)) {
            case Int(DW_TAG_subprogram):
                functions += Self.ranges(of: die).map { Function(start: $0.lowerBound, end: $0.upperBound, die: die) }
                pending += Self.children(of: die).filter { child in
                    var child = child
                    return Int(dwarf_tag(&child)) != Int(DW_TAG_inlined_subroutine)
                }
            case Int(DW_TAG_module), Int(DW_TAG_namespace), Int(DW_TAG_structure_type), Int(DW_TAG_class_type),
                Int(DW_TAG_enumeration_type), Int(DW_TAG_union_type), Int(DW_TAG_interface_type),
                Int(DW_TAG_lexical_block), Int(DW_TAG_variant_part), Int(DW_TAG_common_block):
                pending += Self.children(of: die)
            default: break
            }
        }
        return functions.sorted { $0.start < $1.start }
    }

    /// Appends the calls inlined at the address, from the outside in.
    private func descend(from die: Dwarf_Die, to address: UInt64, _ chain: inout [Dwarf_Die]) {
        for var child in Self.children(of: die) {
            let tag = Int(dwarf_tag(&child))
            guard tag == Int(DW_TAG_inlined_subroutine) || tag == Int(DW_TAG_lexical_block) else { continue }
            guard dwarf_haspc(&child, address) > 0 else { continue }
            if tag == Int(DW_TAG_inlined_subroutine) { chain.append(child) }
            descend(from: child, to: address, &chain)
            return
        }
    }

    // MARK: - Entries of the DWARF

    private static func children(of die: Dwarf_Die) -> [Dwarf_Die] {
        var die = die
        var child = Dwarf_Die()
        guard dwarf_child(&die, &child) == 0 else { return [] }
        var children = [child]
        var next = Dwarf_Die()
        while dwarf_siblingof(&child, &next) == 0 {
            children.append(next)
            child = next
        }
        return children
    }

    /// The entry's nonempty address ranges.
    static func ranges(of die: Dwarf_Die) -> [Swift.Range<UInt64>] {
        var die = die
        var base: UInt64 = 0
        var start: UInt64 = 0
        var end: UInt64 = 0
        var offset = 0
        var ranges: [Swift.Range<UInt64>] = []
        while true {
            offset = dwarf_ranges(&die, offset, &base, &start, &end)
            guard offset > 0 else { return ranges }
            // The linker keeps ranges that begin at 0 for functions that it removed.
            if start > 0 && start < end { ranges.append(start..<end) }
        }
    }

    /// The mangled symbol, or the name for C functions, which are not mangled.
    private static func symbol(of die: Dwarf_Die) -> String {
        var die = die
        return string(UInt32(DW_AT_linkage_name), of: &die) ?? dwarf_diename(&die).map { String(cString: $0) } ?? ""
    }

    /// A string attribute of the entry, or of the entry it is an instance of.
    private static func string(_ name: UInt32, of die: inout Dwarf_Die) -> String? {
        var attribute = Dwarf_Attribute()
        guard dwarf_attr_integrate(&die, name, &attribute) != nil else { return nil }
        return dwarf_formstring(&attribute).map { String(cString: $0) }
    }

    private static func number(_ name: UInt32, of die: inout Dwarf_Die) -> UInt64? {
        var attribute = Dwarf_Attribute()
        var value: UInt64 = 0
        guard dwarf_attr(&die, name, &attribute) != nil, dwarf_formudata(&attribute, &value) == 0 else { return nil }
        return value
    }
}
