internal import CZlib
internal import FaultlineProfile
package import FaultlineTrace

/// A profile for pprof, with a value for each weight that the trace has.
///
/// The file is a `Profile` of https://github.com/google/pprof/blob/main/proto/profile.proto, compressed as gzip does.
package struct PprofExporter: TraceExporter {
    package static let name = "pprof"
    package static let purpose = "for pprof and continuous profilers"
    package static let takesWeight = true

    private var trees: CallTreeSet
    private var began: ProcessBegan?
    private var start = UInt64.max
    private var end: UInt64 = 0

    package init(_ options: ExportOptions) {
        trees = CallTreeSet(options.weight.map { [$0] } ?? CallTreeWeight.all, distinguishingLines: true)
    }

    package mutating func add(_ message: TraceMessage, to output: inout ExportBuffer) {
        switch message {
        case .began(let process):
            if began.map({ process.start < $0.start }) ?? true { began = process }
        case .event(let event):
            start = min(start, event.start)
            end = max(end, event.end)
        case .entry, .lost, .ended: break
        }
        trees.add(message)
    }

    package mutating func finish(_ output: inout ExportBuffer) {
        var profile = PprofProfile(trees.finish())
        let date = began?.date ?? 0
        if date > 0, date < 9e9 { profile.time = UInt64(date * 1e9) }
        profile.duration = end > start ? end - start : 0
        output.append(Gzip.compress(profile.encoded) ?? [])
    }
}

/// The contents of a profile for pprof.
struct PprofProfile {
    /// The start in nanoseconds since 1970, or 0 if it is not known.
    var time: UInt64 = 0
    /// In nanoseconds.
    var duration: UInt64 = 0

    private var samples: [(locations: [UInt64], values: [UInt64])] = []
    private var positions: [[UInt64]: Int] = [:]
    private var frames: [CallPaths.Frame] = []
    private var numbers: [CallPaths.Frame: UInt64] = [:]
    private var functions: [CodeFunction] = []
    private var functionNumbers: [CodeFunction: UInt64] = [:]
    private var modules: [Module] = []
    private var weights: [CallTreeWeight]

    /// A program or library, and which details its functions have.
    private struct Module {
        var name: String
        var hasFiles = false
        var hasLines = false
    }

    init(_ trees: [CallTree]) {
        weights = trees.map(\.weight)
        for (column, tree) in trees.enumerated() {
            tree.forEachPath { path, weight in
                // The innermost function comes first.
                let locations = path.reversed().map { number(of: $0) }
                if positions[locations] == nil {
                    positions[locations] = samples.count
                    samples.append((locations, Array(repeating: 0, count: trees.count)))
                }
                samples[positions[locations] ?? 0].values[column] &+= weight
            }
        }
    }

    /// The number of a frame's location.
    private mutating func number(of frame: CallPaths.Frame) -> UInt64 {
        if let known = numbers[frame] { return known }
        frames.append(frame)
        numbers[frame] = UInt64(frames.count)
        let function = frame.function
        if functionNumbers[function] == nil {
            functions.append(function)
            functionNumbers[function] = UInt64(functions.count)
        }
        if !function.module.isEmpty {
            let known = modules.firstIndex { $0.name == function.module }
            if known == nil { modules.append(Module(name: function.module)) }
            let index = known ?? modules.count - 1
            if !function.file.isEmpty { modules[index].hasFiles = true }
            if frame.line > 0 { modules[index].hasLines = true }
        }
        return UInt64(frames.count)
    }

    /// The message, without compression.
    var encoded: [UInt8] {
        var texts = StringTable()
        var profile = Protobuf()
        for weight in weights { profile.add(1, Self.type(weight, &texts)) }
        for sample in samples {
            var message = Protobuf()
            message.add(1, sample.locations)
            message.add(2, sample.values)
            profile.add(2, message)
        }
        for (index, module) in modules.enumerated() {
            var mapping = Protobuf()
            mapping.add(1, UInt64(index + 1))
            mapping.add(5, texts.number(of: module.name))
            mapping.add(7, true)
            mapping.add(8, module.hasFiles)
            mapping.add(9, module.hasLines)
            profile.add(3, mapping)
        }
        for (index, frame) in frames.enumerated() {
            var line = Protobuf()
            line.add(1, functionNumbers[frame.function] ?? 0)
            line.add(2, UInt64(clamping: frame.line))
            var location = Protobuf()
            location.add(1, UInt64(index + 1))
            location.add(2, modules.firstIndex { $0.name == frame.function.module }.map { UInt64($0 + 1) } ?? 0)
            location.add(4, line)
            profile.add(4, location)
        }
        for (index, function) in functions.enumerated() {
            var message = Protobuf()
            message.add(1, UInt64(index + 1))
            message.add(2, texts.number(of: function.name))
            message.add(3, texts.number(of: function.name))
            message.add(4, texts.number(of: function.file))
            profile.add(5, message)
        }
        let standard = weights.first.map { texts.number(of: Self.words($0).name) } ?? 0
        let comment = texts.number(of: "Faultline \(Version.current)")
        for text in texts.all { profile.add(6, text: text) }
        profile.add(9, time)
        profile.add(10, duration)
        profile.add(13, [comment])
        profile.add(14, standard)
        return profile.bytes
    }

    private static func type(_ weight: CallTreeWeight, _ texts: inout StringTable) -> Protobuf {
        let (name, unit) = words(weight)
        var type = Protobuf()
        type.add(1, texts.number(of: name))
        type.add(2, texts.number(of: unit))
        return type
    }

    /// The name and the unit of a weight.
    private static func words(_ weight: CallTreeWeight) -> (name: String, unit: String) {
        (weight == .allocations ? "allocated" : weight.rawValue, weight.unit)
    }

    /// The texts, which messages refer to by position; the first one is empty.
    private struct StringTable {
        private(set) var all = [""]
        private var positions: [String: UInt64] = ["": 0]

        mutating func number(of text: String) -> UInt64 {
            if let known = positions[text] { return known }
            all.append(text)
            positions[text] = UInt64(all.count - 1)
            return UInt64(all.count - 1)
        }
    }
}

/// A message in the wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding).
///
/// Fields with their default, zero or nothing, are left out, as proto3 does.
struct Protobuf {
    private(set) var bytes: [UInt8] = []

    private enum WireType: UInt64 {
        case varint = 0
        case length = 2
    }

    /// Adds a number.
    mutating func add(_ field: UInt64, _ value: UInt64) {
        guard value != 0 else { return }
        addKey(field, .varint)
        addVarint(value)
    }

    /// Adds a flag.
    mutating func add(_ field: UInt64, _ value: Bool) { add(field, value ? 1 : 0) }

    /// Adds a list of numbers.
    mutating func add(_ field: UInt64, _ values: [UInt64]) {
        guard !values.isEmpty else { return }
        var packed = Protobuf()
        for value in values { packed.addVarint(value) }
        add(field, bytes: packed.bytes)
    }

    /// Adds a message, even if it is empty: repeated fields refer to one another by position.
    mutating func add(_ field: UInt64, _ message: Protobuf) { add(field, bytes: message.bytes) }

    /// Adds a text, even if it is empty.
    mutating func add(_ field: UInt64, text: String) { add(field, bytes: Array(text.utf8)) }

    private mutating func add(_ field: UInt64, bytes content: [UInt8]) {
        addKey(field, .length)
        addVarint(UInt64(content.count))
        bytes += content
    }

    private mutating func addKey(_ field: UInt64, _ type: WireType) { addVarint(field << 3 | type.rawValue) }

    private mutating func addVarint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}

/// Compresses bytes as gzip does.
enum Gzip {
    /// Returns the compressed bytes, which are the same for the same input.
    ///
    /// - Returns: `nil` if there is no memory for it.
    static func compress(_ bytes: [UInt8]) -> [UInt8]? {
        var stream = z_stream()
        guard czlib_begin_gzip(&stream) == Z_OK else { return nil }
        defer { deflateEnd(&stream) }
        var input = bytes
        var output: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 1 << 16)
        return input.withUnsafeMutableBufferPointer { input -> [UInt8]? in
            var rest = input[...]
            // zlib counts its input in 32 bits.
            repeat {
                let part = rest.prefix(1 << 30)
                rest = rest.dropFirst(part.count)
                stream.next_in = part.isEmpty ? nil : input.baseAddress.map { $0 + part.startIndex }
                stream.avail_in = UInt32(part.count)
                repeat {
                    let written = room.withUnsafeMutableBufferPointer { room -> Int? in
                        stream.next_out = room.baseAddress
                        stream.avail_out = UInt32(room.count)
                        let code = deflate(&stream, rest.isEmpty ? Z_FINISH : Z_NO_FLUSH)
                        return code == Z_STREAM_ERROR ? nil : room.count - Int(stream.avail_out)
                    }
                    guard let written else { return nil }
                    output.append(contentsOf: room[..<written])
                } while stream.avail_out == 0
            } while !rest.isEmpty
            return output
        }
    }
}
