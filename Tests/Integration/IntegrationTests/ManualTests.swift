import Foundation
import Testing

@Suite("The manual and the completions", .serialized)
struct ManualTests {
    private static let generator = BuiltCommand.products.appendingPathComponent("ManualGenerator").path

    @Test(
        "have a page for each command, which man renders without a warning",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/man"), "needs man-db"))
    func rendered() throws {
        let folder = try Self.generate().appendingPathComponent("share/man/man1")
        let pages = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(pages.contains("faultline.1") && pages.contains("faultline-demo-python.1"))
        for page in pages {
            let path = folder.appendingPathComponent(page).path
            let result = try BuiltCommand.run(
                ["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", path], program: "/usr/bin/man")
            #expect(result.status == 0 && result.errors.isEmpty, "\(page): \(result.errors)")
        }
    }

    @Test(
        "have every command, option and argument of the help in its page",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/man"), "needs man-db"))
    func complete() throws {
        let folder = try Self.generate().appendingPathComponent("share/man/man1")
        let main = try Self.render("faultline", in: folder)
        let commands = try Self.entries("SUBCOMMANDS", of: ["--help"]).filter { $0 != "help" }
        #expect(commands.count >= 18)
        for command in commands {
            #expect(main.contains("faultline-\(command)(1)"))
            let page = try Self.render("faultline-\(command)", in: folder)
            let options = try Self.entries("OPTIONS", of: [command, "--help"])
            #expect(options.contains("--help"))
            for option in options {
                #expect(page.contains(try Regex("(?m)^       .*\(option)( |,|$)")), "\(option) of \(command)")
            }
        }
        #expect(try Self.render("faultline-record", in: folder).contains("\n       --cpu [HZ]\n"))
        #expect(
            try Self.render("faultline-export", in: folder).contains(
                "faultline export [options] --to to --output output trace\n"))
    }

    @Test(
        "complete commands in a shell, as a user types them",
        .enabled(if: ["fish", "zsh"].allSatisfy(Self.has), "needs fish and zsh"),
        arguments: [
            ("bash --noprofile --norc -i", "source share/bash-completion/completions/faultline"),
            ("zsh -f -i", "fpath=($PWD/share/zsh/site-functions $fpath); autoload -Uz compinit; compinit -u -D"),
        ])
    func typed(shell: String, setUp: String) throws {
        let folder = try Self.generate()
        let keys = "faultline() { echo \"ran: $*.\"; }\n\(setUp)\nfaultline insp\tshop.sqlite --tr\tx.json\nexit\n"
        try keys.write(to: folder.appendingPathComponent("keys"), atomically: true, encoding: .utf8)
        // A terminal of its own, in which the shell reads keys.
        let result = try BuiltCommand.run(
            ["-c", "script --quiet --command '\(shell)' /dev/null < keys"], program: "/bin/sh",
            environment: ["TERM": "dumb"], directory: folder)
        #expect(result.output.contains("\nran: inspect shop.sqlite --trace x.json."), "\(result.output)")
    }

    @Test(
        "offer the same values in each shell", .enabled(if: ["fish", "zsh"].allSatisfy(Self.has), "needs fish and zsh"))
    func values() throws {
        let folder = try Self.generate()
        let fish = """
            source share/fish/vendor_completions.d/faultline.fish
            for line in 'faultline re' 'faultline check --format '
                echo (complete --do-complete $line | string replace --regex '\\t.*' '')
            end
            """
        let offered = try BuiltCommand.run(
            ["--no-config", "-c", fish], program: "/usr/bin/fish", directory: folder
        ).output.split(separator: "\n").map { Set($0.split(separator: " ").map(String.init)) }
        let formats: Set<String> = ["text", "json", "markdown", "sarif", "github", "gcc", "junit"]
        #expect(offered == [["record", "recover", "report"], formats])
        let bash = """
            source share/bash-completion/completions/faultline
            offer() { COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
                COMPREPLY=(); _faultline faultline "${@: -1}" "${@: -2:1}"; echo "${COMPREPLY[@]}"; }
            offer faultline re; offer faultline check --format ''
            offer faultline report share/bash-completion/completions/fa
            """
        let replies = try BuiltCommand.run(["--norc", "-c", bash], program: "/bin/bash", directory: folder)
            .output.split(separator: "\n").map { Set($0.split(separator: " ").map(String.init)) }
        #expect(
            replies == [["record", "report", "recover"], formats, ["share/bash-completion/completions/faultline"]])
    }

    @Test("are accepted by the shells", .enabled(if: ["fish", "zsh"].allSatisfy(Self.has), "needs fish and zsh"))
    func accepted() throws {
        let folder = try Self.generate()
        for (shell, file) in [
            ("bash", "bash-completion/completions/faultline"), ("fish", "fish/vendor_completions.d/faultline.fish"),
            ("zsh", "zsh/site-functions/_faultline"),
        ] {
            let result = try BuiltCommand.run(["-n", "share/" + file], program: "/usr/bin/\(shell)", directory: folder)
            #expect(result.status == 0 && result.errors.isEmpty, "\(shell): \(result.errors)")
        }
    }

    @Test("need a command and a directory")
    func usage() throws {
        let result = try BuiltCommand.run([], program: Self.generator)
        #expect(result.status == 64)
        #expect(result.errors == "usage: ManualGenerator [--articles | --check] COMMAND DIRECTORY\n")
        let folder = try TemporaryDirectory().url.path
        let failed = try BuiltCommand.run(["/bin/false", folder], program: Self.generator)
        #expect(failed.status == 1)
        #expect(failed.errors == "ManualGenerator: /bin/false --version failed.\n")
    }

    private static func has(_ program: String) -> Bool {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\(program)")
    }

    /// The files, which are made once, because each page asks the command for its help.
    private static let generated = Result { try makeFiles() }

    private static func generate() throws -> URL { try generated.get() }

    private static func makeFiles() throws -> URL {
        let folder = try TemporaryDirectory().url
        let result = try BuiltCommand.run([BuiltCommand.faultline, folder.path], program: generator)
        try #require(result.status == 0 && result.errors.isEmpty, "\(result.errors)")
        return folder
    }

    private static func render(_ page: String, in folder: URL) throws -> String {
        try BuiltCommand.run(
            ["-l", folder.appendingPathComponent(page + ".1").path], program: "/usr/bin/man",
            environment: ["MANWIDTH": "100", "LC_ALL": "C.UTF-8"]
        ).output
    }

    /// The commands that a help lists, or the spellings of its options.
    private static func entries(_ section: String, of arguments: [String]) throws -> [String] {
        let lines = try BuiltCommand.run(arguments).output.split(separator: "\n")
        let listed = section == "OPTIONS" ? lines[...] : lines.drop { !$0.hasPrefix(section + ":") }
        return listed.filter { $0.wholeMatch(of: section == "OPTIONS" ? /[ ]{2}-.*/ : /[ ]{2}[a-z]+[ ]{2}.*/) != nil }
            .flatMap { line in
                let label = line.dropFirst(2).prefix { $0 != "<" && $0 != "[" }
                let words = label.split(separator: "  ").first?.split(separator: ", ") ?? []
                return words.map { $0.trimmingCharacters(in: .whitespaces) }
            }
    }
}
