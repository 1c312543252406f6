import Foundation
import TestFolders
import Testing

@testable import faultline

@Suite("An output file")
struct OutputFileTests {
    private let directory: URL

    init() throws { directory = try TestFolder.make() }

    private func place(_ name: String) -> String { directory.appendingPathComponent(name).path }

    private func write(_ name: String, _ text: String = "input", mode: mode_t = 0o644) throws -> String {
        let path = place(name)
        try FileManager.default.createDirectory(
            atPath: OutputFile.folder(of: path), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, mode)
        return path
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()) ?? []
    }

    /// The text of the failure, or `nil` if the file may be written.
    private func refusal(
        of path: String, _ content: OutputFile.Content = .page, inputs: [String?], sources: String? = nil
    ) -> String? {
        do {
            _ = try OutputFile(path, content, inputs: CommandInputs(inputs, sources: sources), isForced: true)
            return nil
        } catch {
            return "\(error)"
        }
    }

    // MARK: - Inputs

    @Test("is never a file that the command reads, under any of its names and even with --force")
    func inputs() throws {
        let store = try write("store.sqlite")
        let (link, hardLink) = (place("link"), place("hard"))
        symlink(store, link)
        Glibc.link(store, hardLink)
        let end = "which the command reads; name another file with -o."
        for path in [store, link, hardLink, directory.path + "/./store.sqlite"] {
            #expect(
                refusal(of: path, inputs: ["other", nil, store])
                    == "Cannot write \"\(path)\": it would replace \"\(store)\", \(end)")
            #expect(
                refusal(of: path, inputs: [link]) == "Cannot write \"\(path)\": it would replace \"\(link)\", \(end)")
        }
        #expect(refusal(of: store, inputs: [place("other")]) == nil)
        #expect(refusal(of: place("new"), inputs: [place("new")]) == nil)
    }

    @Test("is no part of an input", arguments: ["-wal", "-shm", "-journal"])
    func parts(suffix: String) throws {
        let store = try write("store.sqlite")
        let link = place("link")
        symlink(store, link)
        let log = try write("store.sqlite" + suffix)
        let end = "which the command reads; name another file with -o."
        for input in [store, link] {
            #expect(
                refusal(of: log, inputs: [input])
                    == "Cannot write \"\(log)\": it would replace a part of \"\(input)\", \(end)")
        }
        // A file that is not there yet would become a part of any database.
        let database = try write("data.sqlite", "SQLite format 3\0")
        let path = database + suffix
        #expect(
            refusal(of: path, inputs: [])
                == "Cannot write \"\(path)\": SQLite would treat it as part of \"\(database)\"; name another file with -o."
        )
    }

    @Test("is no file in a directory that the command reads, except an earlier output")
    func directories() throws {
        let trace = place("ctf")
        let (stream, elsewhere) = (try write("ctf/ust/channel0"), try write("elsewhere"))
        symlink(elsewhere, trace + "/channel1")
        for path in [stream, elsewhere] {
            #expect(
                refusal(of: path, inputs: [trace])
                    == "Cannot write \"\(path)\": it would replace a part of \"\(trace)\", which the command reads; name "
                    + "another file with -o.")
        }
        let page = try write("ctf/page.html", "<!DOCTYPE html>\n<!-- A page of faultline. It needs no network. -->\n")
        #expect(refusal(of: page, inputs: [trace]) == nil)
        #expect(refusal(of: trace + "/new.html", inputs: [trace]) == nil)
    }

    @Test("is no source that a page can show")
    func sources() throws {
        let folder = place("project")
        let (source, note) = (try write("project/src/Main.swift"), try write("project/notes.txt"))
        let link = place("link.html")
        symlink(source, link)
        for path in [source, link] {
            #expect(
                refusal(of: path, inputs: [], sources: folder)
                    == "Cannot write \"\(path)\": it would replace a source in \"\(folder)\", which the command reads; "
                    + "name another file with -o.")
        }
        #expect(refusal(of: note, inputs: [], sources: folder) == nil)
    }

    // MARK: - Earlier outputs

    @Test("replaces an earlier output as long as nobody changed it")
    func earlierOutput() throws {
        let inputs = CommandInputs([])
        for content in [OutputFile.Content.document, .export, .tables] {
            let path = place("\(content)")
            for _ in 1...2 { try OutputFile(path, content, inputs: inputs).write(Data("first".utf8)) }
            try Data("mine!".utf8).write(to: URL(fileURLWithPath: path))
            #expect {
                try OutputFile(path, content, inputs: inputs)
            } throws: { error in
                "\(error)"
                    == "Cannot write \"\(path)\": it exists and is not an output of Faultline that nobody changed; "
                    + "name another file with -o, or replace it with --force."
            }
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("mine!".utf8))
        }
    }

    // MARK: - Privacy

    @Test(
        "is as private as what it is made of",
        arguments: [(0o600, 0o600), (0o640, 0o600), (0o644, 0o644), (0o664, 0o644)] as [(mode_t, mode_t)])
    func privacy(input: mode_t, output: mode_t) throws {
        let (trace, open) = (try write("trace", mode: input), try write("open"))
        for content in [OutputFile.Content.page, .profile] {
            let path = place("\(content)")
            try OutputFile(path, content, inputs: CommandInputs([open, trace, nil])).write(Data("x".utf8))
            #expect(mode(path) == output)
        }
        // Events are never public.
        let export = place("export")
        try OutputFile(export, .export, inputs: CommandInputs([open])).write(Data("x".utf8))
        #expect(mode(export) == 0o600)
    }

    @Test("is private if a part of a directory is, or the directory, or the file that it replaces")
    func privateParts() throws {
        func made(_ name: String, _ inputs: [String], sources: String? = nil) throws -> mode_t {
            let path = place(name)
            try OutputFile(path, .page, inputs: CommandInputs(inputs, sources: sources), isForced: true).write(Data())
            return mode(path)
        }
        let trace = place("ctf")
        let stream = try write("ctf/ust/stream")
        #expect(try made("1.html", [trace]) == 0o644)
        chmod(stream, 0o600)
        #expect(try made("2.html", [trace]) == 0o600)
        chmod(stream, 0o644)
        chmod(trace, 0o750)
        #expect(try made("3.html", [trace]) == 0o600 && made("4.html", [], sources: trace) == 0o600)
        _ = try write("5.html", mode: 0o600)
        #expect(try made("5.html", []) == 0o600)
        mkfifo(place("pipe"), 0o644)
        #expect(try made("6.html", [place("pipe")]) == 0o600)
    }

    // MARK: - Writing

    @Test("appears under its name once it is finished, and takes the place of a link's target")
    func finishing() throws {
        let (earlier, link) = (try write("earlier.html", ""), place("link.html"))
        symlink(earlier, link)
        let file = try OutputFile(link, .page, inputs: CommandInputs([])).begin()
        try file.write(Data("new".utf8))
        #expect(try Data(contentsOf: URL(fileURLWithPath: earlier)).isEmpty && mode(file.path) == 0o644)
        // Its writer lives.
        #expect(UnfinishedFile.abandoned(in: directory.path).isEmpty)
        try file.finish()
        #expect(try String(contentsOfFile: earlier, encoding: .utf8) == "new")
        #expect(names == ["earlier.html", "link.html"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == earlier)
    }

    @Test("that is not finished leaves nothing, and one that has appeared meanwhile stays")
    func unfinished() throws {
        let path = place("trace.json")
        do {
            let file = try OutputFile(path, .export, inputs: CommandInputs([])).begin()
            try file.write(Data("half".utf8))
            #expect(names.count == 1)
        }
        #expect(names.isEmpty)
        do {
            let file = try OutputFile(path, .export, inputs: CommandInputs([])).begin()
            try file.write(Data("mine".utf8))
            _ = try write("trace.json", "theirs")
            #expect {
                try file.finish()
            } throws: {
                "\($0)".hasPrefix("Cannot write the export to \"\(path)\" (File exists); ")
            }
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "theirs" && names == ["trace.json"])
        let dangling = place("dangling")
        symlink(place("nothing"), dangling)
        #expect(
            refusal(of: dangling, inputs: [])
                == "Cannot write \"\(dangling)\": it is a link to a file that does not exist; name another file with -o."
        )
    }
}
