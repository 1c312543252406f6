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
            let functions = path.functions.map { function in
                JSONValue.sorted(["name": .string(function.function), "file": .string(function.file)])
            }
            return JSONValue.sorted([
                "scope": .optional(path.scope?.name), "functions": .array(functions), "samples": .unsigned(sum.samples),
                "count": .unsigned(sum.count), "bytes": .unsigned(sum.bytes), "atPeak": .unsigned(sum.atPeak),
                "kept": .unsigned(sum.kept), "atEnd": .unsigned(sum.atEnd),
            ])
        }
        return .sorted(["programs": .array(programs), "paths": .array(paths)])
    }
}
