import FaultlineModel
import Foundation
import SharedData
import Testing

/// A mapping model of the shared data, with the two models that it connects.
struct SharedMapping: Sendable, CustomTestStringConvertible {
    var path: String
    var models: String
    var source: String
    var destination: String

    var testDescription: String { path }
    var url: URL { get throws { try SharedData.url(path) } }

    func load() throws -> MappingModel {
        let versions = try ModelVersions(contentsOf: SharedData.url(models))
        return try MappingModel(
            contentsOf: url, from: try versions.model(source), to: try versions.model(destination))
    }

    private static func moody(_ source: Int) -> Self {
        let folder = "core-data-models/objcio/Migrations/Migrations"
        return Self(
            path: "\(folder)/Moody \(source)-Moody \(source + 1).xcmappingmodel",
            models: "\(folder)/Moody.xcdatamodeld",
            source: "Moody \(source)", destination: "Moody \(source + 1)")
    }

    private static func evolution(_ file: String, _ source: Int, _ destination: Int) -> Self {
        let folder = "core-data-models/corestore/Demo/Sources/Demos/Advanced/EvolutionDemo"
        return Self(
            path: "\(folder)/Advanced.EvolutionDemo.\(file).xcmappingmodel",
            models: "\(folder)/Advanced.EvolutionDemo.V1.xcdatamodeld",
            source: "Advanced.EvolutionDemo.V\(source)", destination: "Advanced.EvolutionDemo.V\(destination)")
    }

    static let moody2 = moody(2)
    static let moody3 = moody(3)
    static let moody4 = moody(4)
    static let moody5 = moody(5)
    static let evolution1 = evolution("V2.FromV1", 1, 2)
    static let evolution2 = evolution("V1.FromV2", 2, 1)
    static let sample = Self(
        path: "core-data-stores/coredataplus/SampleModel/MappingModels/V2toV3.xcmappingmodel",
        models: "core-data-stores/coredataplus/SampleModel/SampleModel.xcdatamodeld", source: "SampleModel2",
        destination: "SampleModel3")
    static let all = [moody2, moody3, moody4, moody5, evolution1, evolution2, sample]
}
