import Foundation
import TestFolders
import Testing

/// Whether the tools that make and check packages are there.
private let canPackage = ["lintian", "patchelf"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
}

@Suite("A package", .enabled(if: canPackage, "needs apt-get install lintian patchelf python3-wheel"))
struct PackageTests {
    /// The packages of the built command, which are made once.
    private static let made = Result { () throws -> (folder: TemporaryDirectory, output: String) in
        let folder = try TemporaryDirectory()
        let result = try run(["Installation/package", BuiltCommand.products.path, folder.url.path])
        try #require(result.status == 0, "\(result.errors)")
        return (folder, result.output)
    }

    /// Runs a command without what this test's environment has, a Swift toolchain among it.
    private static func run(_ words: [String], isBare: Bool = false) throws -> BuiltCommand.Result {
        let bare = ["-i", "PATH=/usr/bin:/bin", "HOME=/nonexistent", "LANG=C.UTF-8"]
        return try BuiltCommand.run((isBare ? bare : []) + words, program: "/usr/bin/env")
    }

    private static func package(_ suffix: String) throws -> String {
        let folder = try made.get().folder.url
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(suffix) }
        try #require(names.count == 1, "\(names)")
        return folder.appendingPathComponent(names[0]).path
    }

    /// A look-up for each of fifty books, in Django.
    private static let program = """
        import django, sys
        from django.conf import settings
        settings.configure(DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": sys.argv[1]}})
        django.setup()
        from django.db import connection, models

        class Author(models.Model):
            name = models.TextField()
            class Meta: app_label = "shop"

        class Book(models.Model):
            author = models.ForeignKey(Author, models.CASCADE)
            class Meta: app_label = "shop"

        with connection.schema_editor() as editor:
            for model in [Author, Book]: editor.create_model(model)
        Author.objects.bulk_create(Author(name=f"author {i}") for i in range(50))
        Book.objects.bulk_create(Book(author_id=i + 1) for i in range(50))
        print(len({book.author.name for book in Book.objects.all()}))
        """

    /// Records a Django program with an installed command, and checks the report.
    private func record(with command: String, in directory: TemporaryDirectory) throws {
        let (script, trace) = (directory.path("shop.py"), directory.path("trace.json"))
        try Self.program.write(toFile: script, atomically: true, encoding: .utf8)
        let recorded = try Self.run(
            [command, "record", "-o", trace, "--", "/usr/bin/python3", script, directory.path("shop.db")], isBare: true)
        #expect(recorded.status == 0 && recorded.output == "50\n", "\(recorded.errors)")
        let report = try Self.run([command, "report", trace], isBare: true)
        #expect(report.output.contains("R27 Statement in a loop") && report.output.contains("shop.py:19"))
        #expect(report.output.contains("select_related"), "\(report.output)")
    }

    /// Checks that a command loads nothing but the C library from outside its own folder.
    private func expectOwnLibraries(_ command: String, in folder: URL) throws {
        let libraries = try Self.run(["ldd", command], isBare: true).output.split(separator: "\n")
        let outside = libraries.filter { line in
            line.contains("=>") && !line.contains("=> \(folder.resolvingSymlinksInPath().path)/")
        }
        let names = Set(outside.map { $0.trimmingCharacters(in: .whitespaces).prefix { $0 != " " } })
        #expect(names.isSubset(of: ["libc.so.6", "libm.so.6"]), "\(names)")
        #expect(libraries.count > 8)
    }

    @Test("as an archive runs wherever it is unpacked, with its own libraries and their licences")
    func archive() throws {
        let directory = try TemporaryDirectory()
        // A space in the path must do no harm.
        let folder = directory.url.appendingPathComponent("my tools")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let unpacked = try Self.run(["tar", "-C", folder.path, "-xzf", Self.package(".tar.gz")])
        #expect(unpacked.status == 0, "\(unpacked.errors)")
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        let root = folder.appendingPathComponent(name)
        let command = root.appendingPathComponent("bin/faultline").path
        try expectOwnLibraries(command, in: root)
        let licenses = try FileManager.default.contentsOfDirectory(
            atPath: root.appendingPathComponent("lib/faultline/licenses").path)
        #expect(Set(licenses).isSuperset(of: ["swift.txt", "swift-log.txt", "libsqlite3-0.txt", "libsimdjson14.txt"]))
        try record(with: command, in: directory)
        // A program of its own, a store and a page, each of which needs another library.
        let demo = try Self.run([command, "demo"], isBare: true)
        #expect(demo.status == 0 && demo.output.contains("R02 Batch size"), "\(demo.errors)")
    }

    @Test("as a wheel is installed by pip, and says which C library it needs")
    func wheel() throws {
        let directory = try TemporaryDirectory()
        let wheel = try Self.package(".whl")
        #expect(try #/faultline-[0-9.]+-py3-none-manylinux_2_\d+_\w+\.whl$/#.firstMatch(in: wheel) != nil, "\(wheel)")
        let installed = try Self.run(
            [
                "python3", "-m", "pip", "install", "--quiet", "--no-index", "--break-system-packages", "--prefix",
                directory.url.path, wheel,
            ])
        #expect(installed.status == 0, "\(installed.errors)")
        let bin = try #require(
            ["bin", "local/bin"].map { directory.path($0 + "/faultline") }.first(
                where: FileManager.default.isExecutableFile))
        try expectOwnLibraries(bin, in: directory.url)
        try record(with: bin, in: directory)
    }

    @Test("for Debian passes lintian, and needs no library of Swift")
    func debian() throws {
        let package = try Self.package(".deb")
        let checked = try Self.run(["lintian", "--fail-on", "error,warning", "--allow-root", package])
        #expect(checked.status == 0 && checked.output.isEmpty, "\(checked.output)\(checked.errors)")
        let directory = try TemporaryDirectory()
        #expect(try Self.run(["dpkg-deb", "-x", package, directory.url.path]).status == 0)
        try record(with: directory.path("usr/bin/faultline"), in: directory)
        let needs = try Self.run(["dpkg-deb", "-f", package, "Depends"]).output
        #expect(needs.contains("libsqlite3-0") && needs.contains("libsimdjson14") && !needs.contains("lttng"))
    }

    @Test("replaces one of the same version, and is listed with its size")
    func listed() throws {
        let (folder, output) = try Self.made.get()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
        #expect(names.count == 3)
        let lines = output.split(separator: "\n").map { $0.split(separator: " ").last.map(String.init) ?? "" }
        #expect(lines.sorted() == names.map { folder.path($0) })
    }
}
