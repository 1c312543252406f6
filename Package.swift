// swift-tools-version: 6.2

import CompilerPluginSupport
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

/// A library in C that is loaded into programs that do not know Faultline, and exports only what its list names.
///
/// It has no Swift code, so it needs no Swift runtime. Its calls are bound when it is loaded: binding one in a signal handler
/// would take kilobytes of the thread's stack.
func preloaded(_ name: String, _ dependencies: [Target.Dependency] = [], _ settings: [CSetting] = []) -> Target {
    .target(
        name: name, dependencies: dependencies, exclude: ["exports.map"], cSettings: settings,
        linkerSettings: [
            .unsafeFlags([
                "-nostartfiles", "-static-stdlib", "-Xlinker", "-z", "-Xlinker", "now", "-Xlinker",
                "--version-script=\(Context.packageDirectory)/Sources/Recording/\(name)/exports.map",
            ])
        ])
}

/// A product that only macros need.
func swiftSyntax(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-syntax", condition: .when(traits: ["Entities"]))
}

let package = Package(
    name: "Faultline",
    products: [
        .executable(name: "faultline", targets: ["faultline"]),
        .library(name: "FaultlineBenchmark", targets: ["FaultlineBenchmark"]),
        .library(name: "FaultlineColumns", type: .dynamic, targets: ["FaultlineColumns"]),
        .library(name: "FaultlineDocuments", targets: ["FaultlineDocuments"]),
        .library(name: "FaultlineEntities", targets: ["FaultlineEntities", "FaultlineMigration"]),
        .library(name: "FaultlineFindings", targets: ["FaultlineFindings"]),
        .library(name: "FaultlineHeap", type: .dynamic, targets: ["FaultlineHeap"]),
        .library(name: "FaultlineLTTng", type: .dynamic, targets: ["FaultlineLTTng"]),
        .library(name: "FaultlineModel", targets: ["FaultlineModel"]),
        .library(name: "FaultlinePreload", type: .dynamic, targets: ["FaultlinePreload"]),
        .library(name: "FaultlineProfile", targets: ["FaultlineProfile"]),
        .library(name: "FaultlineReader", targets: ["FaultlineReader"]),
        .library(name: "FaultlineRecorder", targets: ["FaultlineRecorder"]),
        .library(name: "FaultlineReport", targets: ["FaultlineReport"]),
        .library(name: "FaultlineRules", targets: ["FaultlineRules"]),
        .library(name: "FaultlineStore", targets: ["FaultlineMigration", "FaultlineStore"]),
        .library(name: "FaultlineTesting", targets: ["FaultlineTesting"]),
        .library(name: "FaultlineTrace", targets: ["FaultlineTrace"]),
        // For the packages of benchmarks and of integration tests alone.
        .library(name: "CSQLite", targets: ["CSQLite"]),
        .library(name: "FaultlineWorkloads", targets: ["FaultlineWorkloads"]),
        .library(name: "RecorderLoops", targets: ["RecorderLoops"]),
    ],
    traits: [
        .trait(
            name: "Benchmarks",
            description:
                "Benchmarks of what a program asks of its store. Without it their framework is not even fetched."),
        .trait(
            name: "Entities",
            description: "Entities declared as classes. Without it swift-syntax is not even fetched."),
        .trait(name: "LTTng", description: "Programs can record to LTTng; needs liblttng-ust-dev."),
        .default(enabledTraits: ["LTTng"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    ],
    targets: [
        // The vocabulary.
        .target(name: "CTraceSchema"),
        .target(name: "FaultlineTrace", dependencies: ["CTraceSchema"], swiftSettings: strict),

        // How events leave a program.
        .target(name: "CRecorder", dependencies: ["CTraceSchema"], cSettings: [.headerSearchPath(".")]),
        // Whoever does not want it builds with the trait switched off: then it holds nothing. Its library is loaded when a
        // program asks for it.
        .target(
            name: "CLTTngUST", dependencies: ["CTraceSchema"],
            cSettings: [
                .headerSearchPath("."), .headerSearchPath("../CRecorder/include"),
                .define("FAULTLINE_LTTNG", .when(traits: ["LTTng"])),
            ]),
        // Begins the recorder with the program if CPU time or allocations are sampled.
        .target(name: "CRecorderStart"),
        .target(
            name: "FaultlineRecorder",
            dependencies: ["CLTTngUST", "CRecorder", "CRecorderStart", "CTraceSchema", "FaultlineTrace"],
            swiftSettings: strict),

        // Preloaded into programs that do not know Faultline. It exports nothing but SQLite's functions and its own switch,
        // so that no name of the recorder meets one of the program's.
        preloaded(
            "FaultlinePreload", ["CRecorder", "CTraceSchema"], [.headerSearchPath("../FaultlineColumns/include")]),

        // Preloaded besides if the columns that a program reads are recorded.
        preloaded("FaultlineColumns"),

        // Loaded by that library if it records to LTTng.
        preloaded("FaultlineLTTng", ["CLTTngUST", "CTraceSchema"]),

        // Preloaded besides if a program's allocations are sampled. A library of its own, because it takes the place of the C
        // library's allocator.
        preloaded("FaultlineHeap", ["CTraceSchema"], [.headerSearchPath("../CRecorder/include")]),

        // The store.
        .systemLibrary(name: "CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CStore", dependencies: ["CSQLite"]),
        .target(name: "FaultlineDigest", swiftSettings: strict),
        .systemLibrary(name: "CZlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "FaultlineModel", dependencies: ["CZlib", "FaultlineDigest"], swiftSettings: strict),
        .target(
            name: "FaultlineStore",
            dependencies: [
                "CSQLite", "CStore", "FaultlineDigest", "FaultlineModel", "FaultlineRecorder", "FaultlineTrace",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),

        // The store finds it where it is linked. Whoever has the store's product has both.
        .target(
            name: "FaultlineMigration",
            dependencies: ["CSQLite", "FaultlineModel", "FaultlineRecorder", "FaultlineStore", "FaultlineTrace"],
            swiftSettings: strict),

        // Entities declared as classes. A product of its own, with a trait: nothing else needs swift-syntax.
        .macro(
            name: "FaultlineEntityMacros",
            dependencies: [
                swiftSyntax("SwiftCompilerPlugin"),
                swiftSyntax("SwiftDiagnostics"),
                swiftSyntax("SwiftSyntax"),
                swiftSyntax("SwiftSyntaxBuilder"),
                swiftSyntax("SwiftSyntaxMacros"),
            ],
            swiftSettings: strict),
        .target(
            name: "FaultlineEntities",
            dependencies: ["FaultlineEntityMacros", "FaultlineModel", "FaultlineStore"],
            swiftSettings: strict),

        // Budgets in tests and benchmarks.
        .target(
            name: "FaultlineCounting", dependencies: ["FaultlineRecorder", "FaultlineTrace"], swiftSettings: strict),
        .target(
            name: "FaultlineTesting",
            dependencies: [
                "FaultlineCounting", "FaultlineFindings", "FaultlineProfile", "FaultlineReader", "FaultlineRecorder",
                "FaultlineReport", "FaultlineRules", "FaultlineStore", "FaultlineTrace",
            ],
            swiftSettings: strict),
        .target(
            name: "FaultlineBenchmark",
            dependencies: [
                "FaultlineCounting", "FaultlineRecorder",
                .product(name: "Benchmark", package: "benchmark", condition: .when(traits: ["Benchmarks"])),
            ],
            swiftSettings: strict),

        // Traces in.
        .systemLibrary(name: "CElfutils", providers: [.apt(["libdw-dev"])]),
        .target(
            name: "CTimelineParser", dependencies: ["CTraceSchema"], linkerSettings: [.linkedLibrary("simdjson")]),
        .target(
            name: "CBabeltrace", dependencies: ["CTraceSchema"], linkerSettings: [.linkedLibrary("babeltrace2")]),
        .target(
            name: "FaultlineReader",
            dependencies: ["CBabeltrace", "CElfutils", "CTimelineParser", "CTraceSchema", "FaultlineTrace"],
            swiftSettings: strict),

        // The page of a report. In C because its compiler copies files into a library in no time.
        .target(name: "CPage", exclude: ["Page"]),

        // From events to findings, and from findings to a report.
        .target(
            name: "FaultlineProfile",
            dependencies: ["FaultlineTrace", .product(name: "Histogram", package: "hdrhistogram-swift")],
            swiftSettings: strict),
        .target(
            name: "FaultlineFindings", dependencies: ["FaultlineProfile", "FaultlineTrace"], swiftSettings: strict),
        .target(
            name: "FaultlineRules", dependencies: ["FaultlineFindings", "FaultlineProfile", "FaultlineTrace"],
            swiftSettings: strict),
        .target(
            name: "FaultlineDocuments",
            dependencies: [
                "CTraceSchema", "FaultlineFindings", "FaultlineProfile", "FaultlineRules", "FaultlineTrace",
            ],
            swiftSettings: strict),
        .target(
            name: "FaultlineReport",
            dependencies: [
                "CPage", "CTraceSchema", "CZlib", "FaultlineDigest", "FaultlineDocuments", "FaultlineFindings",
                "FaultlineProfile", "FaultlineRules", "FaultlineTrace",
            ],
            swiftSettings: strict),

        // Stores at rest.
        .target(
            name: "FaultlineReplay",
            dependencies: [
                "CSQLite", "FaultlineCounting", "FaultlineFindings", "FaultlineMigration", "FaultlineModel",
                "FaultlineProfile", "FaultlineRecorder", "FaultlineRules", "FaultlineStore", "FaultlineTrace",
            ],
            swiftSettings: strict),

        // A trace as tables.
        .target(
            name: "FaultlineQuery", dependencies: ["CSQLite", "FaultlineDocuments", "FaultlineTrace"],
            swiftSettings: strict),

        // The command, and the sample apps that it can record.
        .target(name: "CMachine"),
        .target(
            name: "FaultlineWorkloads",
            dependencies: [
                "CSQLite", "FaultlineMigration", "FaultlineModel", "FaultlineRecorder", "FaultlineStore",
                "FaultlineTrace",
            ],
            swiftSettings: strict),
        .executableTarget(
            name: "faultline",
            dependencies: [
                "CMachine", "CSQLite", "FaultlineDocuments", "FaultlineFindings", "FaultlineMigration",
                "FaultlineModel", "FaultlineProfile",
                "FaultlineQuery", "FaultlineReader", "FaultlineRecorder", "FaultlineReplay", "FaultlineReport",
                "FaultlineRules",
                "FaultlineStore", "FaultlineTrace", "FaultlineWorkloads",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            resources: [.embedInCode("Demo/shop.py")], swiftSettings: strict),

        // Tests.
        .testTarget(
            name: "FaultlineTraceTests", dependencies: ["CTraceSchema", "FaultlineTrace", "TraceFixtures"],
            swiftSettings: strict),
        .testTarget(
            name: "FaultlineRecorderTests",
            dependencies: ["CRecorder", "FaultlineRecorder", "FaultlineTrace", "TestFolders"],
            swiftSettings: strict),
        .target(name: "SharedData", path: "Tests/SharedData", swiftSettings: strict),
        .target(name: "TestFolders", path: "Tests/TestFolders", swiftSettings: strict),
        .testTarget(
            name: "FaultlineModelTests",
            dependencies: ["FaultlineDigest", "FaultlineModel", "SharedData", "TestFolders"],
            swiftSettings: strict),
        .testTarget(
            name: "FaultlineStoreTests",
            dependencies: [
                "CSQLite", "CStore", "FaultlineMigration", "FaultlineModel", "FaultlineRecorder", "FaultlineStore",
                "FaultlineTrace", "SharedData", "TestFolders", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FaultlineTestingTests",
            dependencies: [
                "FaultlineModel", "FaultlineRecorder", "FaultlineStore", "FaultlineTesting", "FaultlineTrace",
                "TestFolders",
            ],
            swiftSettings: strict),
        .target(name: "CSymbolFixture", path: "Tests/CSymbolFixture"),
        .testTarget(
            name: "FaultlineReaderTests",
            dependencies: [
                "CSymbolFixture", "CTimelineParser", "CTraceSchema", "FaultlineReader", "FaultlineTrace", "SharedData",
                "TestFolders",
            ],
            swiftSettings: strict),
        .target(
            name: "TraceFixtures", dependencies: ["CTraceSchema", "FaultlineTrace"], path: "Tests/TraceFixtures",
            swiftSettings: strict),
        .target(
            name: "EqualRecordings",
            dependencies: ["FaultlineFindings", "FaultlineProfile", "FaultlineRules", "FaultlineTrace"],
            path: "Tests/EqualRecordings", swiftSettings: strict),
        .testTarget(
            name: "FaultlineProfileTests", dependencies: ["FaultlineProfile", "FaultlineTrace", "TraceFixtures"],
            swiftSettings: strict),
        .testTarget(
            name: "FaultlineRulesTests",
            dependencies: [
                "EqualRecordings", "FaultlineFindings", "FaultlineProfile", "FaultlineRules", "FaultlineTrace",
                "TraceFixtures",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FaultlineReportTests",
            dependencies: [
                "FaultlineDigest", "FaultlineDocuments", "FaultlineFindings", "FaultlineProfile", "FaultlineReport",
                "FaultlineRules", "FaultlineTrace", "TraceFixtures",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FaultlineReplayTests",
            dependencies: [
                "CSQLite", "FaultlineFindings", "FaultlineMigration", "FaultlineModel", "FaultlineProfile",
                "FaultlineRecorder", "FaultlineReplay", "FaultlineRules", "FaultlineStore", "FaultlineTrace",
                "TestFolders", "TraceFixtures",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FaultlineQueryTests",
            dependencies: [
                "CSQLite", "FaultlineDocuments", "FaultlineQuery", "FaultlineReport", "FaultlineTrace", "TraceFixtures",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "FaultlineWorkloadsTests",
            dependencies: [
                "CSQLite", "FaultlineMigration", "FaultlineRecorder", "FaultlineTrace", "FaultlineWorkloads",
                "SharedData", "TestFolders",
            ],
            swiftSettings: strict),
        .target(
            name: "RecorderLoops", dependencies: ["CLTTngUST", "CRecorder", "CTraceSchema", "FaultlineRecorder"],
            path: "Tests/RecorderLoops", swiftSettings: strict),
        .target(name: "ProjectFiles", path: "Tests/ProjectFiles", swiftSettings: strict),
        .testTarget(
            name: "FaultlineCommandTests",
            dependencies: [
                "EqualRecordings", "FaultlineDocuments", "FaultlineFindings", "FaultlineProfile", "FaultlineReader",
                "FaultlineReport", "FaultlineRules", "FaultlineTrace", "ProjectFiles", "TestFolders", "faultline",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            swiftSettings: strict),
        // Writes what follows from the schema's declarations; see "make schema".
        .executableTarget(
            name: "SchemaGenerator", dependencies: ["CTraceSchema"], path: "Tests/SchemaGenerator",
            swiftSettings: strict),
        // Writes the manual pages and the completions that an installation has, and the articles about commands and rules;
        // see "make install" and "make articles".
        .executableTarget(
            name: "ManualGenerator", dependencies: ["FaultlineReport", "FaultlineRules"],
            path: "Tests/ManualGenerator", swiftSettings: strict),
    ],
    cLanguageStandard: .gnu17,
    // Not C++20: with it clang takes the headers of other targets for modules that nobody built.
    cxxLanguageStandard: .gnucxx17
)

// Modules form wings, which are folders of `Sources`.
let wings = [
    "Trace": ["CTraceSchema", "FaultlineTrace"],
    "Recording": [
        "CLTTngUST", "CRecorder", "CRecorderStart", "FaultlineColumns", "FaultlineHeap", "FaultlineLTTng",
        "FaultlinePreload", "FaultlineRecorder",
    ],
    "Store": [
        "CSQLite", "CStore", "CZlib", "FaultlineDigest", "FaultlineEntities", "FaultlineEntityMacros",
        "FaultlineMigration", "FaultlineModel", "FaultlineStore",
    ],
    "Profiler": [
        "CBabeltrace", "CElfutils", "CPage", "CTimelineParser", "FaultlineDocuments", "FaultlineFindings",
        "FaultlineProfile", "FaultlineQuery", "FaultlineReader", "FaultlineReport", "FaultlineRules",
    ],
    "Trials": ["FaultlineCounting", "FaultlineReplay"],
    "Command": ["CMachine", "FaultlineWorkloads", "faultline"],
    "Products": ["FaultlineBenchmark", "FaultlineTesting"],
]
for (wing, modules) in wings {
    for target in package.targets where modules.contains(target.name) { target.path = "Sources/\(wing)/\(target.name)" }
}
