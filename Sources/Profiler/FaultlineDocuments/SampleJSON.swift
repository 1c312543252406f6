internal import FaultlineProfile
package import FaultlineTrace

/// The sampled CPU time.
struct SampledCPU: JSONObject {
    private let paths: [Path]
    private let parts: [CodePart: UInt64]

    init(_ profile: Profile) {
        paths = profile.cpuTimes.map { Path(path: $0.path, time: $0.time) }
        parts = profile.cpuTimeByPart
    }

    static let members: JSONMembers<SampledCPU> = [
        .init("samples") { $0.paths.reduce(0) { $0 &+ $1.time.samples } },
        .init("time", "The sampled CPU time, in nanoseconds.") { $0.paths.reduce(0) { $0 &+ $1.time.time } },
        .init("parts", "The sampled CPU time of each part of the programs, in nanoseconds.", \.parts),
        .init("paths", \.paths),
    ]

    private struct Path: JSONObject {
        let path: CPUPath
        let time: CPUTime

        static let members: JSONMembers<Path> = [
            .init("part", \.path.part), .init("scope") { $0.path.scope?.name }, .init("samples", \.time.samples),
            .init("time", "The CPU time, in nanoseconds.", \.time.time),
            .init("functions", PathFunction.path) { $0.path.functions.map(PathFunction.init) },
        ]
    }
}

extension CodePart: JSONWord {
    package static let definition: String? = "part"
    package static let summary = "The part of a program that a function belongs to."
}

/// A function of a call path.
private struct PathFunction: JSONObject {
    let site: CallSite

    static let members: JSONMembers<PathFunction> = [.init("name", \.site.function), .init("file", \.site.file)]

    /// The description of several.
    static let path = "A call path, innermost function first."
}

/// The sampled allocations and the memory of processes.
struct SampledMemory: JSONObject {
    private let programs: [Program]
    private let paths: [Path]

    init(_ profile: Profile) {
        programs = profile.programMemory.map { Program(path: $0.program, memory: $0.memory) }
        paths = profile.allocations.map { Path(path: $0.path, sum: $0.sum) }
    }

    static let members: JSONMembers<SampledMemory> = [.init("programs", \.programs), .init("paths", \.paths)]

    private struct Program: JSONObject {
        let path: String
        let memory: ProgramMemory

        static let members: JSONMembers<Program> = [
            .init("program", \.path), .init("readings", \.memory.readings),
            .init("resident", "The most memory in use, in bytes.", \.memory.resident),
            .init(
                "proportional", "The same, with shared pages divided among processes, in bytes.",
                \.memory.proportional),
        ]
    }

    private struct Path: JSONObject {
        let path: AllocationPath
        let sum: AllocationSum

        static let members: JSONMembers<Path> = [
            .init("scope") { $0.path.scope?.name },
            .init("functions", PathFunction.path) { $0.path.functions.map(PathFunction.init) },
            .init("samples", \.sum.samples),
            .init("count", "Allocations.", \.sum.count), .init("bytes", "All allocations, in bytes.", \.sum.bytes),
            .init("atPeak", "Those that were live when memory was at its peak, in bytes.", \.sum.atPeak),
            .init("kept", "Those that were live when their scope ended, in bytes.", \.sum.kept),
            .init("atEnd", "Those that were never freed, in bytes.", \.sum.atEnd),
        ]
    }
}
