// swift-tools-version: 6.2

import PackageDescription

// A package of its own, so that nobody who only uses Faultline builds its benchmarks or its peers.
let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v13)],
    traits: [
        .trait(
            name: "Peers",
            description: "Compare with GRDB and swift-distributed-tracing. Without this trait, neither is downloaded.")
    ],
    dependencies: [
        // The name makes the package's identity independent of the checkout's folder.
        .package(name: "Faultline", path: "..", traits: [.defaults, "Benchmarks"]),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        .target(name: "CRecorderPeer"),
        .target(name: "CSQLitePeer", linkerSettings: [.linkedLibrary("sqlite3")]),
        // Programs that do not know Faultline.
        .executableTarget(name: "BenchmarkPrograms", linkerSettings: [.linkedLibrary("sqlite3")]),
        // The budgets, side by side with peers in one process.
        .executableTarget(
            name: "Budgets",
            dependencies: [
                "BenchmarkPrograms", "CRecorderPeer", "CSQLitePeer",
                .product(name: "FaultlineModel", package: "Faultline"),
                .product(name: "FaultlineProfile", package: "Faultline"),
                .product(name: "FaultlineReader", package: "Faultline"),
                .product(name: "FaultlineRecorder", package: "Faultline"),
                .product(name: "FaultlineReport", package: "Faultline"),
                .product(name: "FaultlineRules", package: "Faultline"),
                .product(name: "FaultlineTrace", package: "Faultline"),
                .product(name: "FaultlineStore", package: "Faultline"),
                .product(name: "RecorderLoops", package: "Faultline"),
                .product(name: "GRDB", package: "GRDB.swift", condition: .when(traits: ["Peers"])),
                .product(
                    name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Peers"])),
            ],
            path: "Benchmarks/Budgets",
            swiftSettings: [.swiftLanguageMode(.v6)]),
        // The work of programs, with thresholds.
        .executableTarget(
            name: "Scenarios",
            dependencies: [
                .product(name: "FaultlineModel", package: "Faultline"),
                .product(name: "FaultlineRecorder", package: "Faultline"),
                .product(name: "FaultlineBenchmark", package: "Faultline"),
                .product(name: "FaultlineStore", package: "Faultline"),
                .product(name: "Benchmark", package: "benchmark"),
            ],
            path: "Benchmarks/Scenarios",
            swiftSettings: [.swiftLanguageMode(.v6)],
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
    ]
)
