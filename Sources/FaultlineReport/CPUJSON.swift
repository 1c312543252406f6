internal import FaultlineAnalysis
internal import FaultlineTrace

/// The sampled CPU time as JSON.
enum CPUJSON {
    static func value(_ profile: Profile) -> JSONValue {
        let times = profile.cpuTimes
        let sums = profile.cpuTimeByPart.map { ($0.key.rawValue, JSONValue.unsigned($0.value)) }
        return .sorted([
            "samples": .unsigned(times.reduce(0) { $0 &+ $1.time.samples }),
            "time": .unsigned(times.reduce(0) { $0 &+ $1.time.time }),
            "parts": .sorted(Dictionary(uniqueKeysWithValues: sums)),
            "paths": .array(times.map(path)),
        ])
    }

    private static func path(_ path: CPUPath, _ time: CPUTime) -> JSONValue {
        .sorted([
            "part": .string(path.part.rawValue), "scope": .optional(path.scope?.name),
            "samples": .unsigned(time.samples), "time": .unsigned(time.time), "functions": path.functions.json,
        ])
    }
}
