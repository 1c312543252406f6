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
    products: [],
    dependencies: [],
    targets: [
        // The vocabulary.
        .target(name: "CTraceSchema"),
        .target(name: "FaultlineTrace", dependencies: ["CTraceSchema"], swiftSettings: strict),

        // How events leave a program.
        .target(name: "CRecorder", dependencies: ["CTraceSchema"], cSettings: [.headerSearchPath(".")]),
        .target(
            name: "FaultlineRecorder", dependencies: ["FaultlineTrace", "CTraceSchema", "CRecorder"],
            swiftSettings: strict),

        // Tests.
        .testTarget(
            name: "FaultlineTraceTests", dependencies: ["CTraceSchema", "FaultlineTrace"], swiftSettings: strict),
        .testTarget(
            name: "FaultlineRecorderTests", dependencies: ["CRecorder", "FaultlineRecorder", "FaultlineTrace"],
            swiftSettings: strict),
    ],
    cLanguageStandard: .gnu17,
    cxxLanguageStandard: .gnucxx20
)
