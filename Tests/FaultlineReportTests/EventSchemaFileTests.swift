import FaultlineDocuments
import Foundation
import Testing
import TraceFixtures

@testable import FaultlineReport
@testable import FaultlineTrace

@Suite("The JSON Schema of events")
struct EventSchemaFileTests {
    @Test("is up to date with \"make schema\"")
    func current() throws {
        if ProcessInfo.processInfo.environment["FAULTLINE_WRITE_SCHEMAS"] != nil {
            try EventSchemaFile.text.write(to: EventSchemaFile.file, atomically: true, encoding: .utf8)
        }
        let text = try String(contentsOf: EventSchemaFile.file, encoding: .utf8)
        #expect(text == EventSchemaFile.text, "run \"make schema\"")
    }

    /// Every kind of event, also those that no sample trace has.
    @Test(arguments: EventKind.allCases)
    func `Every member of an event is in its schema`(kind: EventKind) throws {
        let data = try Data(contentsOf: EventSchemaFile.file)
        let schema = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        let definitions = try #require(schema["$defs"] as? [String: [String: Any]])
        func properties(_ name: String) throws -> Set<String> {
            Set(try #require(definitions[name]?["properties"] as? [String: Any]).keys)
        }
        let (common, own) = (try properties("common"), try properties(kind.name))
        #expect(common.isDisjoint(with: own))
        var event = TraceEvent.filled(kind).event
        event.site = 1
        var json = EventJSON(dictionary: TraceDictionary())
        let members = try JSONSerialization.jsonObject(with: Data(json.line(event, stack: true).utf8)) as? [String: Any]
        let keys = Set(try #require(members).keys)
        #expect(keys.isSubset(of: common.union(own)), "\(keys.subtracting(common.union(own)))")
        let required = try ["common", kind.name].flatMap { try #require(definitions[$0]?["required"] as? [String]) }
        #expect(Set(required).isSubset(of: keys), "\(Set(required).subtracting(keys))")
    }
}
