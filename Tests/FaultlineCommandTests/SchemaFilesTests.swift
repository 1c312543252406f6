import FaultlineDocuments
import FaultlineProfile
import FaultlineRules
import Foundation
import ProjectFiles
import Testing

@testable import FaultlineReport
@testable import faultline

@Suite("The JSON Schemas of documents")
struct SchemaFilesTests {
    private static let documents: [any JSONDocument.Type] = [
        ReportJSON.self, BudgetCheck.self, ProfileDiff.self, StoreInspection.self, Verification.self, CallTree.self,
        EventTimeline.self, ModelListing.self, VersionComparison.self, VersionSearch.self, MigrationOutcome.self,
        Doctor.Diagnosis.self,
    ]

    /// The texts of all files, made from the documents' declarations, by name.
    private static let files: [String: String] = {
        var definitions: JSONDefinitions = [:]
        var files: [String: String] = [:]
        for document in documents {
            files["\(document.name).v\(document.version).json"] = document.schemaText(&definitions)
        }
        let shared = JSONValue.object([
            ("$schema", .string(JSONValue.dialect)), ("$id", .string("definitions.v1.json")),
            ("title", .string("Shared definitions")),
            ("description", .string("Schemas to which those of documents refer.")),
            ("$defs", .sorted(definitions.compactMapValues { $0 })),
        ])
        files["definitions.v1.json"] = shared.compact + "\n"
        return files
    }()

    @Test("are up to date with \"make schema\"", arguments: files.keys.sorted())
    func current(name: String) throws {
        let file = ProjectFolder.url.appendingPathComponent("Schemas/\(name)")
        let text = try #require(Self.files[name])
        if ProcessInfo.processInfo.environment["FAULTLINE_WRITE_SCHEMAS"] != nil {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == text, "run \"make schema\"")
    }

    @Test("are about all documents")
    func complete() throws {
        let folder = ProjectFolder.url.appendingPathComponent("Schemas")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        // Lines of events have schemas made from the events' declarations, and profiles are read as well as written.
        #expect(Set(files) == Set(Self.files.keys).union(["events.v1.json", "profile.v2.json"]))
    }
}
