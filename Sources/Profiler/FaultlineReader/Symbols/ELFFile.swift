import CElfutils
import FaultlineTrace
import Glibc

/// A program or library on disk, with its symbols and, if it has DWARF, its source lines.
///
/// Addresses are the file's own, as in its program headers.
final class ELFFile {
    private let session: OpaquePointer
    private let module: OpaquePointer
    /// The ranges of code, by address.
    ///
    /// They are built once from each unit's ranges. Neither clang nor swiftc writes `.debug_aranges`, without which
    /// libdw's own look-ups by address find nothing.
    private lazy var ranges = makeRanges()
    private var units: [DebugUnit] = []
    private var locationsByAddress: [UInt64: [FrameEntry.Location]] = [:]

    /// Opens the file at a path; `nil` if it cannot be read or is not an ELF file.
    ///
    /// The path comes from a trace, so nothing but an ELF file is read. In particular, libdw would unpack a compressed
    /// file of any size.
    init?(path: String) {
        guard let descriptor = try? RegularFile.open(path) else { return nil }
        var magic = [UInt8](repeating: 0, count: 4)
        guard pread(descriptor, &magic, 4, 0) == 4, magic == [0x7F, 0x45, 0x4C, 0x46],
            let session = ftl_elf_open(path, descriptor)
        else {
            close(descriptor)
            return nil
        }
        guard let module = ftl_elf_module(session) else {
            dwfl_end(session)
            return nil
        }
        self.session = session
        self.module = module
    }

    deinit {
        dwfl_end(session)
    }

    /// The build ID in hexadecimal digits; empty if the file has none.
    var buildID: String {
        var bits: UnsafePointer<UInt8>?
        var address: UInt64 = 0
        let length = dwfl_module_build_id(module, &bits, &address)
        guard length > 0, let bits else { return "" }
        return UnsafeBufferPointer(start: bits, count: Int(length))
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The functions and lines at an address, innermost first; empty if nothing is known.
    func locations(at address: UInt64) -> [FrameEntry.Location] {
        if let known = locationsByAddress[address] { return known }
        var locations: [FrameEntry.Location] = []
        if let unit = unit(at: address) { locations = unit.locations(at: address) }
        let symbol = symbol(at: address)
        if locations.isEmpty {
            if let symbol { locations = [.init(symbol: symbol, function: SymbolName.words(for: symbol))] }
        } else if let symbol, locations[locations.count - 1].symbol.isEmpty {
            locations[locations.count - 1].symbol = symbol
            locations[locations.count - 1].function = SymbolName.words(for: symbol)
        }
        locationsByAddress[address] = locations
        return locations
    }

    /// The symbol that covers the address.
    private func symbol(at address: UInt64) -> String? {
        var offset: UInt64 = 0
        var symbol = GElf_Sym()
        guard let name = dwfl_module_addrinfo(module, address, &offset, &symbol, nil, nil, nil) else { return nil }
        // The nearest preceding symbol is only a guess if the address lies after its end.
        if symbol.st_size > 0 && offset >= symbol.st_size { return nil }
        return String(cString: name)
    }

    // MARK: - Units

    private struct Range {
        var start: UInt64
        var end: UInt64
        var unit: Int
    }

    private func unit(at address: UInt64) -> DebugUnit? {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].start <= address { low = middle + 1 } else { high = middle }
        }
        guard low > 0, address < ranges[low - 1].end else { return nil }
        return units[ranges[low - 1].unit]
    }

    private func makeRanges() -> [Range] {
        var ranges: [Range] = []
        var bias: UInt64 = 0
        var last: UnsafeMutablePointer<Dwarf_Die>?
        while let die = dwfl_module_nextcu(module, last, &bias) {
            last = die
            let index = units.count
            units.append(DebugUnit(die.pointee, bias: bias))
            for range in DebugUnit.ranges(of: die.pointee) {
                ranges.append(Range(start: range.lowerBound &+ bias, end: range.upperBound &+ bias, unit: index))
            }
        }
        ranges.sort { $0.start < $1.start }
        return ranges
    }
}
