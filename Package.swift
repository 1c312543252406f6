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

let package = Package(
    name: "Faultline",
    products: [
        .library(name: "FaultlineReader", targets: ["FaultlineReader"]),
        .library(name: "FaultlineRecorder", targets: ["FaultlineRecorder"]),
    ],
    dependencies: [],
    targets: [
        // The vocabulary.
        .target(name: "CTraceSchema"),
        .target(name: "FaultlineTrace", dependencies: ["CTraceSchema"], swiftSettings: strict),

        // How events leave a program.
        .target(name: "CRecorder", dependencies: ["CTraceSchema"], cSettings: [.headerSearchPath(".")]),
        .target(
            name: "FaultlineRecorder", dependencies: ["CRecorder", "CTraceSchema", "FaultlineTrace"],
            swiftSettings: strict),

        // Traces in.
        .systemLibrary(name: "CElfutils", providers: [.apt(["libdw-dev"])]),
        .target(
            name: "CTimelineParser", dependencies: ["CTraceSchema"], linkerSettings: [.linkedLibrary("simdjson")]),
        .target(
            name: "FaultlineReader", dependencies: ["CElfutils", "CTimelineParser", "CTraceSchema", "FaultlineTrace"],
            swiftSettings: strict),

        // Tests.
        .testTarget(
            name: "FaultlineTraceTests", dependencies: ["CTraceSchema", "FaultlineTrace"], swiftSettings: strict),
        .testTarget(
            name: "FaultlineRecorderTests", dependencies: ["CRecorder", "FaultlineRecorder", "FaultlineTrace"],
            swiftSettings: strict),
        .target(name: "CSymbolFixture", path: "Tests/CSymbolFixture"),
        .testTarget(
            name: "FaultlineReaderTests",
            dependencies: ["CSymbolFixture", "CTimelineParser", "CTraceSchema", "FaultlineReader", "FaultlineTrace"],
            swiftSettings: strict),
    ],
    cLanguageStandard: .gnu17,
    // Not C++20: with it clang takes the headers of other targets for modules that nobody built.
    cxxLanguageStandard: .gnucxx17
)
