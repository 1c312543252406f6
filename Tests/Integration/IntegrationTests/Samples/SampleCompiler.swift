import Foundation
import Testing

/// Type-checks Swift samples against built modules.
struct SampleCompiler {
    /// A module of another package that the samples import, or `nil` for those of this project.
    let peer: String?
    /// The directory of a package's builds, such as `.build`.
    private let scratch: URL
    /// The directory of the built products.
    private let products: URL

    /// Checks samples that import this project's own modules, built with all traits.
    static let own = SampleCompiler(peer: nil, building: ".build-traits")

    /// Checks samples that import GRDB, on which no package of this project depends.
    static let grdb = SampleCompiler(peer: "GRDB", building: "Tests/Integration/SmallPrograms/grdb_playlists/.build")

    private init(peer: String?, building folder: String) {
        self.peer = peer
        scratch = BuiltCommand.package.appendingPathComponent(folder)
        products = scratch.appendingPathComponent("debug")
    }

    /// The remedy if this project's modules were not built with all traits.
    static let need: Comment = "needs a build with all traits: make test-entities"

    /// Whether the modules were built.
    var isBuilt: Bool {
        let module = products.appendingPathComponent("Modules/\(peer ?? "FaultlineStore").swiftmodule")
        return FileManager.default.fileExists(atPath: module.path)
    }

    /// Whether the compiler can find what a program imports, once the other package is built.
    func fits(_ program: SampleProgram) -> Bool {
        let peers = [Self.grdb].compactMap(\.peer).filter(program.imports.contains)
        return peers == (peer.map { [$0] } ?? [])
    }

    /// Returns the compiler's errors, which begin with the article and the line; a correct program has none.
    ///
    /// Warnings do not count: a sample may well leave a value unused.
    func errors(of program: SampleProgram) throws -> String {
        let source = try TemporaryDirectory().path("Samples.swift")
        try program.text.write(toFile: source, atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run(
            ["swiftc"] + options + [source] + program.given, program: "/usr/bin/env")
        return result.status == 0 ? "" : result.errors
    }

    /// The compiler's options, by which it finds modules and macros.
    private var options: [String] {
        let macros = Self.own.products.appendingPathComponent("FaultlineEntityMacros-tool").path
        var options = ["-typecheck", "-wmo", "-swift-version", "6", "-suppress-warnings", "-diagnostic-style", "llvm"]
        options += ["-I", products.appendingPathComponent("Modules").path, "-I", Self.manifests]
        options += ["-package-description-version", "6.2"]
        options += ["-load-plugin-executable", macros + "#FaultlineEntityMacros"]
        for map in moduleMaps { options += ["-Xcc", "-fmodule-map-file=\(map)"] }
        for folder in Self.modules { options += ["-Xcc", "-I\(folder)/include"] }
        return options
    }

    /// The maps of the modules in C: those that a build makes, and those that lie beside the sources.
    private var moduleMaps: [String] {
        let checkouts = Self.folders(in: scratch.appendingPathComponent("checkouts").path)
        let sources = Self.modules + checkouts.map { $0 + "/Sources" }.flatMap(Self.folders)
        let builds = Self.folders(in: products.path).filter { $0.hasSuffix(".build") && !$0.hasSuffix("-tool.build") }
        let maps = builds + sources + sources.map { $0 + "/include" }
        return maps.map { $0 + "/module.modulemap" }.filter(FileManager.default.fileExists)
    }

    /// The folders of this package's modules, which lie in those of the wings.
    private static let modules = folders(in: BuiltCommand.package.appendingPathComponent("Sources").path)
        .flatMap(folders)

    private static func folders(in folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).map { "\(folder)/\($0)" }
    }

    /// The directory of the module `PackageDescription`, which the toolchain has for manifests.
    private static let manifests: String = {
        let compiler = try? BuiltCommand.run(["-c", "readlink -f \"$(command -v swiftc)\""], program: "/bin/sh").output
        return URL(fileURLWithPath: compiler?.trimmingCharacters(in: .newlines) ?? "")
            .deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("lib/swift/pm/ManifestAPI").path
    }()
}
