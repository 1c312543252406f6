import FaultlineReader
import Foundation
import Testing

@Suite("What cannot be read at all is said in one sentence")
struct ReaderErrorTests {
    @Test("A missing file")
    func missing() throws {
        #expect(message(of: "/nowhere/t.json") == "Could not open the trace \"/nowhere/t.json\": there is no such file; check the path.")
    }

    @Test("A directory")
    func directory() throws {
        #expect(message(of: "/tmp") == "Could not open the trace \"/tmp\": it is a directory; name the trace file in it.")
    }

    @Test("A device or a pipe")
    func device() throws {
        #expect(
            message(of: "/dev/null")
                == "Could not open the trace \"/dev/null\": it is no regular file, and a trace is read twice; save it to a file first.")
    }

    @Test("A file without permission", .enabled(if: getuid() != 0, "the superuser may read every file"))
    func unreadable() throws {
        let file = try TraceFile("[")
        try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: file.path)
        #expect(message(of: file.path) == "Could not open the trace \"\(file.path)\": permission was denied; make the file readable.")
    }

    @Test(
        "Content that is no trace",
        arguments: [
            ("", "the file is empty; see whether the program recorded anything and the disk has room"),
            (" \n\n", "the file is empty; see whether the program recorded anything and the disk has room"),
            ("SQLite format 3\0rest", "it is no timeline but an SQLite database; name a file that \"faultline record\" wrote"),
            ("\u{7F}ELF\u{2}", "it is no timeline but a program or library; name a file that \"faultline record\" wrote"),
            ("<?xml version=\"1.0\"?>", "it is no timeline but an XML or HTML document; name a file that \"faultline record\" wrote"),
            ("hello\n", "it is no timeline but plain text; name a file that \"faultline record\" wrote"),
            ("\u{1}\u{2}", "it is no timeline but binary data; name a file that \"faultline record\" wrote"),
            ("{\n  \"name\": \"package\"\n}\n", "it is JSON, but no timeline of Faultline; name a file that \"faultline record\" wrote"),
            ("[{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"pid\":1,\"tid\":1}]", "it is JSON, but no timeline of Faultline; name a file that \"faultline record\" wrote"),
            ("[\n]\n", "it is JSON, but no timeline of Faultline; name a file that \"faultline record\" wrote"),
            ("[\n{\"name\":\"faultl", "it breaks off before its first complete line; record it again"),
            ("[\n  {\n    \"name\": \"faultline.began\",\n", "another program has reformatted this timeline; read the original, which has one event a line"),
            ("[\(Lines.began()),\(Lines.fault(id: 1))]\n", "another program has reformatted this timeline; read the original, which has one event a line"),
            (
                Lines.timeline([Lines.began(version: 2)]),
                "it is in version 2 of the format, and this program knows version 1; update Faultline"
            ),
        ])
    func content(text: String, reason: String) throws {
        let file = try TraceFile(text)
        #expect(message(of: file.path) == "Could not read the trace \"\(file.path)\": \(reason).")
    }

    @Test("A gzip archive")
    func archive() throws {
        let file = try TraceFile([0x1F, 0x8B, 0x08, 0x00])
        #expect(message(of: file.path) == "Could not read the trace \"\(file.path)\": it is no timeline but a gzip archive; unpack it first.")
    }

    @Test("An error of the reader's client goes through")
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
