import FaultlineDocuments
import FaultlineReport

extension Doctor.Diagnosis: JSONDocument, Document {
    static let name = "doctor"
    static let title = "A diagnosis of a machine"
    static let summary = "The output of `faultline doctor --format json`."
    static let members: JSONMembers<Doctor.Diagnosis> = [
        .init("isReady", "Whether everything works that a recording with the defaults needs.", \.obstacles.isEmpty),
        .init("machine", \.machine), .init("groups", \.groups), .init("installation", \.installation),
    ]

    func text(_ layout: Layout) -> String {
        DoctorText(diagnosis: self).render(width: layout.width, colour: layout.isColoured)
    }
}

extension Machine: JSONObject {
    static let members: JSONMembers<Machine> = [
        .init("system", "The distribution's name.", \.system), .init("kernel", \.kernel),
        .init("architecture", \.architecture), .init("processors", \.processors),
    ]
}

extension CheckGroup: JSONObject {
    static let members: JSONMembers<CheckGroup> = [.init("name", \.name), .init("checks", \.checks)]
}

extension Check: JSONObject {
    static let members: JSONMembers<Check> = [
        .init("name", "The subject.", \.subject.name), .init("state", \.state),
        .init("isEssential", "Whether a recording with the defaults needs it.", \.subject.isEssential),
        .init("found", "The result, in a few words.", \.found),
        .init("why", "The purpose of the subject.", \.subject.why),
        .init("remedy", "The remedy, or empty if none is needed.", \.remedy),
        .init("command", "The shell command to run, or null.") { $0.command.isEmpty ? nil : $0.command },
    ]
}

extension Check.State: JSONWord {}

extension Installation: JSONObject {
    static let members: JSONMembers<Installation> = [
        .init("packages", "The Debian packages that are missing.", \.packages),
        .init("command", "The shell command that installs them, or null if none is missing.", \.command),
    ]
}
