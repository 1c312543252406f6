import Foundation

/// The runs of a program: on an idle machine, on a busy one, and with one operation that takes longer.
struct Traces {
    private(set) var idle: [String] = []
    private(set) var busy: [String] = []
    private(set) var changed: [String] = []

    init(of program: Program, runs: Int, on machine: Machine) throws {
        let store = machine.path("prepared")
        try machine.run(program.preparation, store: store)
        for run in 0..<runs { idle.append(try Self.record(program, store, "idle \(run)", on: machine)) }
        busy = try machine.whileBusy {
            try (0..<runs).map { try Self.record(program, store, "busy \($0)", on: machine) }
        }
        try Self.remove(store)
        guard let changed = program.changed else { return }
        try machine.run(changed, store: store)
        self.changed = try (0..<runs / 2).map { try Self.record(program, store, "changed \($0)", on: machine) }
        try Self.remove(store)
    }

    /// Each run has a copy of the store: programs write.
    private static func record(_ program: Program, _ store: String, _ name: String, on machine: Machine) throws
        -> String
    {
        let copy = machine.path("store")
        try remove(copy)
        for end in ends where FileManager.default.fileExists(atPath: store + end) {
            try FileManager.default.copyItem(atPath: store + end, toPath: copy + end)
        }
        let trace = machine.path("\(program.name) \(name).json".replacingOccurrences(of: " ", with: "-"))
        try machine.run(
            ["faultline", "record", "--quiet", "--force", "-o", trace, "--"] + program.command, store: copy)
        return trace
    }

    private static let ends = ["", "-wal", "-shm"]

    private static func remove(_ store: String) throws {
        for end in ends where FileManager.default.fileExists(atPath: store + end) {
            try FileManager.default.removeItem(atPath: store + end)
        }
    }
}
