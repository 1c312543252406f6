import Foundation
import ProjectFiles
import Testing

@testable import faultline

/// Tests the printed text of checks, independently of the machine.
@Suite("A diagnosis")
struct DoctorTextTests {
    private static let debian = "PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n"
    private static let fedora = "PRETTY_NAME='Fedora Linux 42'\nID=fedora\n"

    private static let clock = Subject(name: "clock", why: "An event reads it twice.")
    private static let trial = Subject(name: "trial run", why: "Recordings take this way.", isEssential: true)
    private static let tool = Subject(name: "lttng", why: "It makes sessions.", package: "lttng-tools")
    private static let plain = Subject(name: "STAT4", why: "With it plans are better.")

    private func diagnosis(
        _ checks: [Check], release: String = debian, database: ExternalCommand.Answer? = nil
    ) -> Doctor.Diagnosis {
        let machine = Machine(release: release)
        return Doctor.Diagnosis(
            machine: machine, groups: [CheckGroup(name: "Recording", checks: checks)],
            installation: Installation(on: machine, database: database, checks: checks))
    }

    /// Returns the text after the line that describes the machine.
    private func text(_ diagnosis: Doctor.Diagnosis, width: Int = 80, colour: Bool = false) -> String {
        let text = DoctorText(diagnosis: diagnosis).render(width: width, colour: colour)
        return text.components(separatedBy: "\n\n").dropFirst().joined(separator: "\n\n")
    }

    @Test("has a line per check, then the remedies, then the summary")
    func whole() {
        let checks = [
            Self.trial.ok("100 events"),
            Self.clock.warning("hpet, 812 ns a read", "Change it, as root.", command: "echo tsc >/sys/clock"),
            Self.plain.missing("not in this build"), Self.tool.missing("not in PATH", "Install lttng-tools."),
        ]
        #expect(
            text(diagnosis(checks, database: .printed("lttng-tools installed\n", status: 1))) == """
                Recording
                  ✓ trial run        100 events
                  ! clock            hpet, 812 ns a read
                  – STAT4            not in this build
                  – lttng            not in PATH

                What to do
                  ! clock: An event reads it twice. Change it, as root.
                    → echo tsc >/sys/clock
                  – lttng: It makes sessions. Install lttng-tools.

                Everything that a recording needs works here.

                To install what is missing:
                \(sudo)apt-get install libsqlite3-dev liblttng-ust-dev babeltrace2 libbabeltrace2-dev \
                libsimdjson-dev libdw-dev zlib1g-dev

                """)
    }

    private var sudo: String { geteuid() == 0 ? "" : "sudo " }

    @Test("names what prevents a recording")
    func obstacles() {
        let lines = text(
            diagnosis([
                Self.trial.failed("no file can be made", "Name another directory."),
                Subject(name: "store", why: "It rests on it.", isEssential: true).missing("none", "Make one."),
                Self.clock.failed("stands still", "Wind it up."),
            ]))
        #expect(lines.contains("  ✗ trial run        no file can be made\n  ✗ store            none\n"))
        #expect(lines.contains("\n\nRecording does not work here: see trial run, store.\n\n"))
    }

    @Test("is coloured by state", arguments: [("✓", "32"), ("!", "1;33"), ("–", "2"), ("✗", "1;31")])
    func colours(mark: String, colour: String) {
        let checks = [
            Self.clock.ok("a"), Self.clock.warning("b", "c"), Self.clock.missing("d"), Self.clock.failed("e", "f"),
        ]
        #expect(text(diagnosis(checks), colour: true).contains("  \u{1B}[\(colour)m\(mark)\u{1B}[0m clock"))
        #expect(!text(diagnosis(checks)).contains("\u{1B}"))
    }

    @Test("truncates long lines and escapes control characters", arguments: [80, 100])
    func longLines(width: Int) {
        let path = "/" + String(repeating: "directory/", count: 30)
        let check = Self.clock.failed("no answer from \(path)\u{1B}[2J (\(path))", "Look at \(path).")
        let lines = text(diagnosis([check]), width: width).split(separator: "\n")
        #expect(lines[1].count == width && lines[1].contains("no answer from /") && lines[1].contains("…"))
        #expect(lines.dropLast().allSatisfy { $0.count <= width || $0.contains("directory/directory/") })
        #expect(!lines.joined().contains("\u{1B}"))
    }

    @Test(
        "counts packages as missing that Debian's database does not list as installed",
        arguments: [
            ("", 1, Installation.all), ("libdw-dev installed\n", 1, Installation.all.filter { $0 != "libdw-dev" }),
            ("libdw-dev config-files\nlttng-tools installed\n", 0, Installation.all.filter { $0 != "lttng-tools" }),
            (Installation.all.map { "\($0) installed\n" }.joined(), 0, []),
        ])
    func database(printed: String, status: Int, missing: [String]) {
        let installation = Installation(
            on: Machine(release: Self.debian), database: .printed(printed, status: Int32(status)), checks: [])
        #expect(installation.packages == missing)
        let command = missing.isEmpty ? nil : sudo + "apt-get install " + missing.joined(separator: " ")
        #expect(installation.command == command)
    }

    @Test(
        "derives missing packages from the checks if there is no database or it does not answer",
        arguments: [nil, ExternalCommand.Answer.missing, .silent, .unusable("broken"), .printed("", status: 2)])
    func noDatabase(answer: ExternalCommand.Answer?) {
        let checks = [
            Self.tool.missing("not in PATH"), Self.tool.ok("2.13"), Self.plain.missing("not in this build"),
            Subject(name: "babeltrace2", why: "It prints.", package: "babeltrace2").failed("broken", "Install it."),
            Subject(name: "libdw", why: "It resolves.", package: "libdw-dev").ok("0.188"),
        ]
        let installation = Installation(on: Machine(release: Self.debian), database: answer, checks: checks)
        #expect(installation.packages == ["lttng-tools", "babeltrace2"])
    }

    @Test("names packages without a command if the distribution has other names for them")
    func otherDistribution() {
        let lines = text(diagnosis([Self.tool.missing("not in PATH", "Install lttng-tools.")], release: Self.fedora))
        #expect(
            lines.hasSuffix(
                """
                To install what is missing, find this distribution's names of these Debian
                packages:
                lttng-tools

                """))
    }

    @Test(
        "recognizes distributions with Debian's packages",
        arguments: [
            ("ID=debian", true), ("ID=ubuntu\nID_LIKE=debian", true), ("ID=linuxmint\nID_LIKE=\"ubuntu debian\"", true),
            ("ID=fedora", false), ("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"", false), ("", false),
        ])
    func distributions(release: String, isDebian: Bool) {
        #expect(Machine(release: release).isDebian == isDebian)
    }

    // MARK: - Output of commands and the kernel

    @Test(
        "parses a version from a command's output",
        arguments: [
            ("lttng (LTTng Trace Control) 2.13.9 - Nordicité\n", "2.13.9"), ("2.13.9\n", "2.13.9"),
            ("Babeltrace 2.0.4 \"Amqui\"\n\nAmqui is a town.", "2.0.4"), ("2.13.5-1ubuntu3", "2.13.5"),
            ("version unknown", nil), ("", nil), ("1 of 2.", nil),
        ])
    func versions(printed: String, version: String?) {
        #expect(ExternalCommand.Answer.printed(printed, status: 0).version == version)
        #expect(ExternalCommand.Answer.printed(printed, status: 1).version == nil)
    }

    @Test(
        "determines the file system of a path",
        arguments: [
            ("/", "ext4"), ("/srv", "ext4"), ("/srv/net", "nfs4"), ("/srv/net/deep/er", "nfs4"),
            ("/srv/network", "ext4"), ("/media/my disk/x", "fuse.sshfs"), ("/dev/shm", "tmpfs"),
        ])
    func mounts(path: String, type: String) {
        let table = """
            22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
            25 22 0:22 / /dev/shm rw - ramfs ramfs rw
            26 22 0:23 / /dev/shm rw shared:4 master:1 - tmpfs tmpfs rw,size=1k
            40 22 0:41 / /srv/net rw - nfs4 host:/export rw
            41 22 0:42 / /media/my\\040disk rw - fuse.sshfs host: rw
            """
        #expect(FileSystem.type(of: path, mounts: table) == type)
    }

    @Test(
        "treats network file systems as shared",
        arguments: [
            ("nfs4", true), ("cifs", true), ("9p", true), ("fuse.sshfs", true), ("ext4", false), ("tmpfs", false),
            ("overlay", false), ("btrfs", false), ("fuse.ntfs-3g", false),
        ])
    func sharedFileSystems(type: String, isShared: Bool) {
        #expect(FileSystem.isShared(type) == isShared)
    }

    @Test("covers every package that make installs")
    func makefile() throws {
        let makefile = try String(
            contentsOf: ProjectFolder.url.appendingPathComponent("Makefile"), encoding: .utf8)
        let line = try #require(makefile.split(separator: "\n").first { $0.hasPrefix("PACKAGES = ") })
        let packages = line.split(separator: " ").dropFirst(2).map(String.init)
        #expect(packages.count >= 3 && packages.allSatisfy(Installation.all.contains))
    }
}
