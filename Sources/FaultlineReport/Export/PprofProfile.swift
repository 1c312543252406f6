internal import FaultlineAnalysis
internal import FaultlineTrace

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
