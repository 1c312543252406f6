// swift-tools-version: 6.2

import PackageDescription

// A program like anybody's: it knows Faultline's public products and nothing else.
let package = Package(
    name: "Library",
    dependencies: [.package(name: "Faultline", path: "../..")],
    targets: [
        .executableTarget(
            name: "Library",
            dependencies: [
                .product(name: "FaultlineModel", package: "Faultline"),
                .product(name: "FaultlineStore", package: "Faultline"),
            ]),
        // The program of the README's quick start.
        .executableTarget(
            name: "QuickStart",
            dependencies: ["FaultlineModel", "FaultlineRecorder", "FaultlineStore"].map {
                .product(name: $0, package: "Faultline")
            }),
    ]
)
