import FaultlineReader
import Foundation
import Testing

@Suite("A file that cannot be read is reported in one sentence")
struct ReaderErrorTests {
    private static let advice = "name a file that \"faultline record\" wrote"
    /// The advice for a file of no known kind.
    private static let list =
        advice
        + ", or a table that xctrace exported, Core Data's log (-com.apple.CoreData.SQLDebug 1), the log of Django "
        + "(django.db.backends), the log of SQLAlchemy (echo=True), the log of Rails or the trace of GRDB (db.trace)"
    private static let empty = "the file is empty; check that the program recorded anything and that the disk has space"
    private static let foreign = "it is JSON, but not a Faultline timeline; \(advice)"
    /// The message for a trace that "faultline record" made of a program that recorded nothing.
    private static let nothing =
        "it is an empty recording: no process recorded anything; record it again, and read the reason that \"faultline record\" prints at the end"
    private static let reformatted =
        "another program has reformatted this timeline; read the original, which has one event per line"

    @Test(
        "A path that cannot be opened is reported",
        arguments: [
            ("/nowhere/t.json", "there is no such file; check the path"),
            ("/dev/null/t.json", "there is no such file; check the path"),
            ("/dev/null", "it is not a regular file, and a trace is read twice; save it to a file first"),
        ])
    func path(path: String, reason: String) {
        #expect(message(of: path) == "Could not open the trace \"\(path)\": \(reason).")
    }

    @Test("Missing permission is reported", .enabled(if: getuid() != 0, "the superuser may read every file"))
    func unreadable() throws {
        let file = try TraceFile("[")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: file.path)
        let reason = "permission was denied; make the file readable"
        #expect(message(of: file.path) == "Could not open the trace \"\(file.path)\": \(reason).")
    }

    @Test(
        "Content that is not a trace is reported",
        arguments: [
            ("", empty), (" \n\n", empty), ("[\n]\n", nothing), ("[\r\n]", nothing), ("[]", nothing),
            (
                "SQLite format 3\0rest",
                "it is not a timeline but an SQLite database; \(advice); \"faultline inspect\" examines a store"
            ),
            ("\u{7F}ELF\u{2}", "it is not a timeline but a program or library; \(advice)"),
            ("<?xml version=\"1.0\"?>", "it is not a timeline but an XML or HTML document; \(list)"),
            ("hello\n", "it is not a timeline but plain text; \(list)"),
            ("\u{1}\u{2}", "it is not a timeline but binary data; \(list)"),
            ("{\n  \"name\": \"package\"\n}\n", foreign),
            ("[{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"pid\":1,\"tid\":1}]", foreign),
            ("[\n{\"name\":\"faultl", "it ends before its first complete line; record it again"),
            ("[\n  {\n    \"name\": \"faultline.began\",\n", reformatted),
            ("[\(Lines.began()),\(Lines.fault(id: 1))]\n", reformatted),
            (
                Lines.timeline([Lines.began(version: 2)]),
                "it uses version 2 of the format, but this program supports version 1; update Faultline"
            ),
        ])
    func content(text: String, reason: String) throws {
        let file = try TraceFile(text)
        #expect(message(of: file.path) == "Could not read the trace \"\(file.path)\": \(reason).")
    }

    @Test("A gzip archive is reported")
    func archive() throws {
        let file = try TraceFile([0x1F, 0x8B, 0x08, 0x00])
        let reason = "it is not a timeline but a gzip archive; unpack it first"
        #expect(message(of: file.path) == "Could not read the trace \"\(file.path)\": \(reason).")
    }

    @Test("An error thrown by the reader's client is rethrown")
    func clientError() throws {
        struct Stop: Error {}
        let file = try TraceFile(Lines.timeline([Lines.began(), Lines.fault(id: 1)]))
        #expect(throws: Stop.self) { try TraceReader(path: file.path).read { _ in throw Stop() } }
    }

    private func message(of path: String) -> String {
        do {
            try TraceReader(path: path).read { _ in }
            return "no error"
        } catch {
            return "\(error)"
        }
    }
}
