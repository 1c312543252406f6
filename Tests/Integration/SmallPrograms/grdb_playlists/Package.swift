// swift-tools-version: 5.9

import PackageDescription

let package = Package(
    name: "Playlists",
    platforms: [.macOS(.v13)],
    dependencies: [.package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0")],
    targets: [
        .executableTarget(name: "flawed", dependencies: [.product(name: "GRDB", package: "GRDB.swift")]),
        .executableTarget(name: "repaired", dependencies: [.product(name: "GRDB", package: "GRDB.swift")]),
    ]
)
