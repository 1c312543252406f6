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

/// The dependencies of a program with a store.
let store = ["FaultlineModel", "FaultlineRecorder", "FaultlineStore", "FaultlineTrace"].map(faultline)

func program(_ name: String, _ dependencies: [Target.Dependency] = store, path: String? = nil) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path ?? name, swiftSettings: strict)
}

/// A small application, with the folder of its name.
func application(_ name: String) -> Target {
    program(name, ["ApplicationKit"] + store, path: "Applications/\(name)")
}

func helper(_ name: String, _ dependencies: [Target.Dependency] = [], path: String? = nil) -> Target {
    .target(name: name, dependencies: dependencies, path: path ?? name, swiftSettings: strict)
}

// Tests of the built command on programs, traces, logs and stores. A package of its own, so that the tests of the libraries do
// not wait for it.
let package = Package(
    name: "Integration",
    dependencies: [
        .package(name: "Faultline", path: "../..")
    ],
    targets: [
        // Small applications with flaws, and without them.
        helper("ApplicationKit", store, path: "Applications/Kit"),
        helper("ApplicationFlaws", path: "Applications/Flaws"),
        application("Bookings"),
        application("Chat"),
        application("Contacts"),
        application("Feed"),
        application("Fitness"),
        application("Importer"),
        application("Inventory"),
        application("Kanban"),
        application("Ledger"),
        application("Mail"),
        application("News"),
        application("Notes"),
        application("Photos"),
        application("Recipes"),
        application("Sync"),
        application("Timetable"),

        program("MusicProgram"),
        program("StoreProgram"),
        program("UnrulyProgram"),
        .executableTarget(
            name: "SQLiteProgram", path: "SQLiteProgram", linkerSettings: [.linkedLibrary("sqlite3")]),

        program(
            "FuzzProgram",
            store + [
                faultline("FaultlineDocuments"), faultline("FaultlineProfile"), faultline("FaultlineReader"),
                faultline("FaultlineReport"), faultline("FaultlineRules"),
            ]),
        program("Truth", ["ApplicationFlaws", "TruthKit"] + store),
        program("DiffTruth", ["TruthKit"] + store),
        helper("TruthKit"),

        // Shared with the tests of the libraries; the folders are links to theirs.
        helper("ProjectFiles"),
        helper("SharedData"),
        helper("TestFolders"),

        .testTarget(
            name: "IntegrationTests",
            dependencies: store + [
                "ApplicationFlaws", "Bookings", "Chat", "Contacts", "Feed", "Fitness", "Importer", "Inventory",
                "Kanban",
                "Ledger", "Mail", "MusicProgram", "News", "Notes", "Photos", "ProjectFiles", "Recipes", "SQLiteProgram",
                "SharedData", "StoreProgram", "Sync", "TestFolders", "Timetable", "UnrulyProgram", faultline("CSQLite"),
                faultline("FaultlineFindings"), faultline("FaultlineReader"),
                faultline("FaultlineReport"), faultline("FaultlineRules"), faultline("FaultlineWorkloads"),
                // For the samples of the documentation.
                faultline("FaultlineTesting"),
            ],
            path: "IntegrationTests", swiftSettings: strict),
    ]
)
