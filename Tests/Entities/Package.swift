// swift-tools-version: 6.2

import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// A product of the package under test.
func faultline(_ name: String) -> Target.Dependency { .product(name: name, package: "Faultline") }

// The targets that need a trait. This is a package of its own, so that nothing else waits for swift-syntax and for the
// framework of benchmarks.
let package = Package(
    name: "Entities",
    dependencies: [.package(name: "Faultline", path: "../..", traits: ["Benchmarks", "Entities"])],
    targets: [
        // Shared with the tests of the libraries; the folders are links to theirs.
        .target(name: "SharedData", path: "SharedData", swiftSettings: strict),
        .target(name: "TestFolders", path: "TestFolders", swiftSettings: strict),
        .testTarget(
            name: "FaultlineEntitiesTests",
            dependencies: [
                "SharedData", "TestFolders",
                faultline("CSQLite"), faultline("FaultlineEntities"), faultline("FaultlineModel"),
                faultline("FaultlineRecorder"), faultline("FaultlineStore"), faultline("FaultlineTrace"),
                faultline("FaultlineWorkloads"),
                // For the samples and the site of the documentation.
                faultline("FaultlineBenchmark"), faultline("FaultlineTesting"),
            ],
            path: "FaultlineEntitiesTests", swiftSettings: strict),
    ]
)
