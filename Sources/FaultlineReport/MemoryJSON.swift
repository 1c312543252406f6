internal import FaultlineAnalysis
internal import FaultlineTrace

/// The sampled allocations and the memory of processes as JSON.
enum MemoryJSON {
    static func value(_ profile: Profile) -> JSONValue {
        let programs = profile.programMemory.map { program, memory in
            JSONValue.sorted([
                "program": .string(program), "readings": .unsigned(memory.readings),
                "resident": .unsigned(memory.resident), "proportional": .unsigned(memory.proportional),
            ])
        }
        let paths = profile.allocations.map { path, sum in
            JSONValue.sorted([
                "scope": .optional(path.scope?.name), "functions": path.functions.json,
                "samples": .unsigned(sum.samples), "count": .unsigned(sum.count), "bytes": .unsigned(sum.bytes),
                "atPeak": .unsigned(sum.atPeak), "kept": .unsigned(sum.kept), "atEnd": .unsigned(sum.atEnd),
            ])
        }
        return .sorted(["programs": .array(programs), "paths": .array(paths)])
    }
}
