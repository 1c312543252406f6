import FaultlineReport

/// A diagnosis as JSON: everything that ``DoctorText`` shows, and why each subject matters.
///
/// It is one object with its keys in alphabetical order.
struct DoctorJSON {
    /// The version of the keys.
    ///
    /// It increases when a key is removed or changes its meaning.
    static let version = 1

    let diagnosis: Doctor.Diagnosis

    func render() -> String {
        let machine = diagnosis.machine
        let installation = diagnosis.installation
        return JSONValue.sorted([
            "version": .integer(Int64(Self.version)),
            "isReady": .bool(diagnosis.obstacles.isEmpty),
            "machine": .sorted([
                "system": .string(machine.system), "kernel": .string(machine.kernel),
                "architecture": .string(machine.architecture), "processors": .integer(Int64(machine.processors)),
            ]),
            "groups": .array(diagnosis.groups.map(Self.value)),
            "installation": .sorted([
                "packages": .array(installation.packages.map { .string($0) }),
                "command": installation.command.map { .string($0) } ?? .null,
            ]),
        ]).indented + "\n"
    }

    private static func value(_ group: CheckGroup) -> JSONValue {
        .sorted([
            "name": .string(group.name),
            "checks": .array(
                group.checks.map { check in
                    .sorted([
                        "name": .string(check.subject.name), "state": .string(check.state.rawValue),
                        "isEssential": .bool(check.subject.isEssential), "found": .string(check.found),
                        "why": .string(check.subject.why), "remedy": .string(check.remedy),
                        "command": check.command.isEmpty ? .null : .string(check.command),
                    ])
                }),
        ])
    }
}
