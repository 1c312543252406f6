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
    private var functions: [CodeFunction] = []
    private var numbers: [CodeFunction: UInt64] = [:]
    private var modules: [String] = []
    private var weights: [CallTreeWeight]

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

    /// The number of a function, which is also that of its location.
    private mutating func number(of function: CodeFunction) -> UInt64 {
        if let known = numbers[function] { return known }
        functions.append(function)
        if !function.module.isEmpty, !modules.contains(function.module) { modules.append(function.module) }
        numbers[function] = UInt64(functions.count)
        return UInt64(functions.count)
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
            mapping.add(5, texts.number(of: module))
            mapping.add(7, true)
            profile.add(3, mapping)
        }
        for (index, function) in functions.enumerated() {
            var line = Protobuf()
            line.add(1, UInt64(index + 1))
            var location = Protobuf()
            location.add(1, UInt64(index + 1))
            location.add(2, modules.firstIndex(of: function.module).map { UInt64($0 + 1) } ?? 0)
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
