import Foundation
import ProjectFiles
import Testing

@Suite("An output file")
struct OutputNameTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func write(_ name: String, _ text: String = "input", mode: mode_t = 0o644) throws -> String {
        let path = directory.path(name)
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, mode)
        return path
    }

    private func mode(_ path: String) -> mode_t {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
    }

    private var names: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory.url.path).sorted()) ?? []
    }

    /// Foundation's `deletingLastPathComponent` traps for a name of one letter, and so did the command.
    @Test("may have a name of one letter")
    func oneLetter() throws {
        let trace = try SampleTraces.trace("n-plus-one").path
        let result = try BuiltCommand.run(["profile", trace, "-o", "p"], directory: directory.url)
        #expect(result.status == 0 && !result.wasKilled && result.errors.isEmpty, "\(result.errors)")
        #expect(try BuiltCommand.run(["report", directory.path("p")]).status == 0)
        let root = try BuiltCommand.run(["profile", trace, "-o", "/no/such/p"])
        let reason = "there is no folder \"/no/such\"; make it, or name another file with -o."
        #expect(root.status == 2 && root.errors == "faultline: Cannot write \"/no/such/p\": \(reason)\n")
    }

    // MARK: - Inputs

    @Test("is checked by every command that writes one")
    func commands() throws {
        let trace = directory.path("trace.json")
        try FileManager.default.copyItem(at: SampleTraces.trace("n-plus-one"), to: URL(fileURLWithPath: trace))
        let (other, budget) = (try write("other.json"), try write("thresholds.json", "{}"))
        let store = try write("s.sqlite", "SQLite format 3\0")
        let model = try write("M.xcdatamodel/contents", "<model/>")
        let page = ["--format", "html", "--force", "-o"]
        let commands: [(arguments: [String], inputs: [String])] = [
            (["report", trace, "--verification", other, "--thresholds", budget] + page, [trace, other, budget]),
            (["verify", trace, "--store", store, "--model", model] + page, [trace, store, model]),
            (["diff", trace, other] + page, [trace, other]),
            (["inspect", store, "--trace", trace] + page, [store, trace]),
            (
                ["migrate", store, "--to", model, "--from", other, "--mapping", budget] + page,
                [store, model, other, budget]
            ),
            (["model", "diff", store, model] + page, [store, model]), (["model", "show", model] + page, [model]),
            (["profile", trace, "--thresholds", budget, "--force", "-o"], [trace, budget]),
            (["merge", trace, other, "--force", "-o"], [trace, other]), (["query", trace, "-o"], [trace]),
            (["export", trace, "--to", "folded", "-o"], [trace]),
            (["recover", "/dev/shm/faultline-1-2.rings", "-o"], []),
        ]
        for (arguments, inputs) in commands {
            for input in inputs {
                let before = try Data(contentsOf: URL(fileURLWithPath: input))
                let result = try BuiltCommand.run(arguments + [input])
                #expect(
                    result.status == 2 && result.errors.contains(": it would replace "), "\(arguments) \(result.errors)"
                )
                #expect(try Data(contentsOf: URL(fileURLWithPath: input)) == before)
            }
        }
        // A recording replaces neither the program nor what it is given.
        let program = try write("prog", "#!/bin/sh\n", mode: 0o755)
        for (output, words) in [(program, [program]), (other, ["/bin/cat", other]), (budget, ["/bin/true"])] {
            let result = try BuiltCommand.run(
                ["record", "--force", "--thresholds", budget, "-o", output, "--"] + words)
            #expect(result.status == 2 && result.errors.contains(": it would replace "), "\(result.errors)")
        }
    }

    // MARK: - Privacy

    @Test("of a private trace is private, from every command")
    func privateCommands() throws {
        let trace = directory.path("trace.json")
        try FileManager.default.copyItem(at: SampleTraces.trace("n-plus-one"), to: URL(fileURLWithPath: trace))
        chmod(trace, 0o600)
        let outputs = [
            ["report", trace, "--format", "html"], ["profile", trace], ["merge", trace, trace], ["query", trace],
            ["diff", trace, trace, "--format", "html"], ["export", trace, "--to", "otlp"],
        ]
        for (number, arguments) in outputs.enumerated() {
            let path = directory.path("output\(number)")
            #expect(try BuiltCommand.run(arguments + ["-o", path]).status == 0)
            #expect(mode(path) == 0o600, "\(arguments)")
        }
        #expect(names.allSatisfy { !$0.hasPrefix(".") })
    }

    // MARK: - Writing

    @Test("that a killed command left is removed by clean, and nothing else is")
    func clean() throws {
        let left = try write(".faultline-ab12cd34.part")
        _ = try write("target.part")
        symlink(directory.path("target.part"), directory.path(".faultline-ab12cd35.part"))
        mkfifo(directory.path(".faultline-ab12cd37.part"), 0o600)
        _ = try write(".faultline-ab12cd38.part/file")
        for name in [
            ".faultline-AB12cd34.part", ".faultline-ab12cd3.part", "faultline-ab12cd34.part", ".faultline-.part",
        ] {
            _ = try write(name)
        }
        let all = names
        for environment in [[directory.url.path], []] {
            let dry = try BuiltCommand.run(["clean", "--dry-run"] + environment, directory: directory.url)
            #expect(dry.output.contains("Would remove \(left)\n") && names == all)
        }
        let doctor = try BuiltCommand.run(["doctor"], directory: directory.url)
        #expect(doctor.output.contains("1 unfinished output"))
        let removed = try BuiltCommand.run(["clean", directory.url.path])
        #expect(removed.status == 0 && removed.output.contains("Removed \(left)\n"))
        #expect(names == all.filter { $0 != ".faultline-ab12cd34.part" })
        let none = try BuiltCommand.run(["clean", directory.path("none")])
        #expect(
            none.status == 2
                && none.errors
                    == "faultline: There is no folder \"\(directory.path("none"))\"; name one with outputs of Faultline.\n"
        )
    }

    @Test("is removed when a signal ends the command")
    func signal() throws {
        // The trace is long enough for the signal to meet the export at work.
        let trace = try SampleTraces.trace("n-plus-one").path
        let script = """
            import os, signal, subprocess, sys, time
            command, trace, folder = sys.argv[1:]
            text = open(trace, "rb").read()
            long = os.path.join(folder, "long.json")
            end = text.rindex(b"\\n]")
            lines = b",\\n".join([text[1:end]] * 400)
            open(long, "wb").write(b"[" + lines + b"\\n]\\n")
            export = subprocess.Popen([command, "export", long, "--to", "otlp", "-o", os.path.join(folder, "out")])
            while export.poll() is None and not any(name.endswith(".part") for name in os.listdir(folder)): pass
            export.send_signal(signal.SIGTERM)
            print(export.wait(), [name for name in os.listdir(folder) if name != "long.json"])
            """
        let result = try BuiltCommand.run(
            ["-c", script, BuiltCommand.faultline, trace, directory.url.path], program: PythonPackages.python)
        #expect(result.output == "-15 []\n", "\(result.errors)")
    }

    // MARK: - Standard output

    @Test("can be standard output", arguments: ["-", "/dev/stdout"])
    func standardOutput(name: String) throws {
        let trace = try SampleTraces.trace("n-plus-one").path
        for arguments in [
            ["export", trace, "--to", "folded"], ["export", trace, "--to", "pprof"], ["profile", trace],
            ["merge", trace],
            ["report", trace, "--format", "html"],
        ] {
            let path = directory.path(UUID().uuidString)
            try #require(try BuiltCommand.run(arguments + ["-o", path], directory: directory.url).status == 0)
            let file = try Data(contentsOf: URL(fileURLWithPath: path))
            let copy = directory.path("copy")
            let piped = try BuiltCommand.run(
                ["-c", "\"$@\" | cat > \"$0\"", copy, BuiltCommand.faultline] + arguments + ["-o", name],
                program: "/bin/bash", directory: directory.url)
            #expect(piped.errors.isEmpty, "\(piped.errors)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: copy)) == file && !file.isEmpty, "\(arguments)")
        }
        #expect(!names.contains("-"))
    }

    @Test("cannot be standard output if the output needs a file, or if that is an input")
    func noStandardOutput() throws {
        let trace = try SampleTraces.trace("n-plus-one").path
        for (arguments, reason) in [
            (["query", trace, "-o", "-"], "a database needs a file"),
            (["record", "-o", "-", "--", "/bin/true"], "a recording needs a file or a directory"),
            (["record", "--to", "lttng", "-o", "-", "--", "/bin/true"], "a recording needs a file or a directory"),
            (["recover", "/dev/shm/faultline-1-2.rings", "-o", "-"], "a trace that is completed needs a file"),
        ] {
            let result = try BuiltCommand.run(arguments, directory: directory.url)
            #expect(result.status == 2)
            #expect(result.errors == "faultline: Cannot write \"-\": \(reason); name one with -o.\n")
        }
        let copy = directory.path("trace.json")
        try FileManager.default.copyItem(atPath: trace, toPath: copy)
        let command = "exec \(BuiltCommand.faultline) export \(copy) --to timeline -o - >> \(copy)"
        let result = try BuiltCommand.run(["-c", command], program: "/bin/bash")
        #expect(
            result.status == 2
                && result.errors
                    == "faultline: Cannot write \"-\": standard output is \"\(copy)\", which the command reads; write to "
                    + "another file.\n"
        )
        #expect(FileManager.default.contentsEqual(atPath: copy, andPath: trace))
    }

    // MARK: - Bytes that are not UTF-8

    @Test("has exactly the name that was given, or none")
    func bytes() throws {
        let trace = try SampleTraces.trace("n-plus-one").path
        let command = BuiltCommand.faultline
        for arguments in ["profile \(trace) -o $'o\\xff'", "record -o $'o\\xff' -- /bin/true", "report $'t\\xff'"] {
            let result = try BuiltCommand.run(
                ["-c", "exec \(command) \(arguments)"], program: "/bin/bash", directory: directory.url)
            #expect(result.status == 2)
            #expect(
                result.errors.hasSuffix(
                    "\u{FFFD}\" is not valid UTF-8; rename the file, or name it by a link whose path is.\n"),
                "\(result.errors)")
        }
        #expect(names.isEmpty)
        // The recorded program and its arguments are passed on byte for byte.
        let script = """
            mkdir $'d\\xff' && printf '#!/bin/sh\\nprintf "%%s" "$1"' > $'d\\xff'/prog && chmod +x $'d\\xff'/prog
            \(command) record --quiet -o t.json -- $'d\\xff'/prog $'a\\xfe' | od -An -tx1
            PATH=$PWD/$'d\\xff':$PATH \(command) record --quiet -o t.json prog $'a\\xfe' | od -An -tx1
            """
        let result = try BuiltCommand.run(["-c", script], program: "/bin/bash", directory: directory.url)
        #expect(result.output == " 61 fe\n 61 fe\n", "\(result.errors)")
    }
}
