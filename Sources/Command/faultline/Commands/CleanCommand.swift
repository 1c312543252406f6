import ArgumentParser
import FaultlineFindings
import FaultlineRecorder
import Foundation

/// Removes leftovers of killed Faultline processes.
struct CleanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clean",
        abstract: "Removes leftovers of commands that were killed.",
        discussion: """
            It removes ring buffers whose events are in a trace, temporary directories, outputs that were not finished \
            (.faultline-XXXXXXXX.part), and LTTng sessions that a killed "faultline record" created, with the daemon that it started. \
            It looks into the directories for temporary files, and into the folders that you name. Ring buffers whose events are in no trace stay, \
            unless --discard-events is given; "faultline recover" makes a trace of them. Traces are never removed.
            """)

    @Argument(help: "Folders of outputs.", completion: .directory)
    var folders: [String] = ["."]

    @Flag(name: .long, help: "Also remove ring buffers whose events are in no trace; those events are lost.")
    var discardEvents = false

    @Flag(name: .long, help: "Print what would be removed, and remove nothing.")
    var dryRun = false

    func run() throws {
        for folder in folders { try checkFolder(folder) }
        let leftovers = Leftovers(in: folders)
        var lines: [String] = []
        let verb = dryRun ? "Would remove" : "Removed"
        for rings in leftovers.rings {
            guard rings.isSpent || discardEvents else {
                let kept = "\(dryRun ? "Would keep" : "Kept") \(rings.file)"
                let unsaved = "\(Phrase.count(rings.events)) of its events \(rings.events == 1 ? "is" : "are")"
                lines.append("\(kept): \(unsaved) in no trace. \(RingsText.advice(rings))")
                continue
            }
            if !dryRun { rings.remove() }
            lines.append("\(verb) \(rings.file)")
        }
        for file in leftovers.unreadable {
            lines.append("\(dryRun ? "Would keep" : "Kept") \(file): \(RingsText.refusal)")
        }
        for directory in leftovers.directories {
            if !dryRun { try? FileManager.default.removeItem(atPath: directory.path) }
            lines.append("\(verb) \(directory.path)")
        }
        for file in leftovers.files {
            if !dryRun { unlink(file) }
            lines.append("\(verb) \(file)")
        }
        for session in leftovers.sessions {
            if !dryRun, let problem = session.remove() {
                lines.append("Could not end LTTng's session \(session.name): \(problem)")
            } else {
                lines.append(
                    "\(verb) LTTng's session \(session.name)\(session.output.isEmpty ? "" : "; its trace stays in \(session.output)")"
                )
            }
        }
        try Terminal.output.write(lines.isEmpty ? "Nothing was left behind.\n" : lines.map { $0 + "\n" }.joined())
    }

    private func checkFolder(_ path: String) throws {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
            throw CommandFailure.usage("There is no folder \"\(path)\"; name one with outputs of Faultline.")
        }
    }
}
