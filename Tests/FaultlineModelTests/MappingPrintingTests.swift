import FaultlineModel
import Foundation
import SharedData
import TestFolders
import Testing

@Suite("A mapping model is printed as Xcode prints it")
struct MappingPrintingTests {
    @Test(
        "A file and its print have the same content", .enabled(if: SharedData.exists, "\(SharedData.need)"),
        arguments: SharedMapping.all)
    func roundTrip(_ shared: SharedMapping) throws {
        let mapping = try shared.load()
        let original = try String(contentsOf: shared.url.appendingPathComponent("xcmapping.xml"), encoding: .utf8)
        let text = try mapping.contents()
        #expect(try XMLTree(Data(text.utf8)) == XMLTree(Data(original.utf8)))
        let same = original.replacing("standalone=\"no\"", with: "standalone=\"yes\"") == text
        #expect(same, "the texts differ although their trees are the same")

        let copy = TestFolder.file("xcmappingmodel")
        defer { try? FileManager.default.removeItem(at: copy) }
        try mapping.write(to: copy)
        #expect(try String(contentsOf: copy.appendingPathComponent("xcmapping.xml"), encoding: .utf8) == text)
        let versions = try ModelVersions(contentsOf: SharedData.url(shared.models))
        let again = try MappingModel(
            contentsOf: copy, from: versions.model(shared.source), to: versions.model(shared.destination))
        #expect(again == mapping)
    }

    private func load(_ text: String) throws -> MappingModel {
        let models = try MappingText.models()
        let url = TestFolder.file()
        defer { try? FileManager.default.removeItem(at: url) }
        try Data(text.utf8).write(to: url)
        return try MappingModel(contentsOf: url, from: models.source, to: models.destination)
    }

    @Test("Unknown elements and unusual characters are preserved")
    func unknown() throws {
        let text = """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <future kind="a &quot;&lt;&amp;&gt;&#10;&#9;&#13;"></future>
                <object type="XDDEVMAPPINGMODEL" id="m">
                    <attribute name="sourcemodelpath" type="string">⭐️ "&lt;&amp;&gt;"	
            </attribute>
                    <relationship name="entitymappings" type="0/0" destination="XDDEVENTITYMAPPING" idrefs=""></relationship>
                </object>
                <object type="FUTURE" id="f" color="blue"></object>
            </database>
            """
        #expect(try load(text).contents() == text)
    }

    @Test("A mapping model that no file can hold throws an error")
    func unprintable() throws {
        func message(_ mapping: MappingModel, _ path: String? = nil) -> String? {
            do throws(ModelError) {
                if let path {
                    try mapping.write(to: URL(fileURLWithPath: path))
                } else {
                    _ = try mapping.contents()
                }
                return nil
            } catch {
                #expect(error.code == .cannotWrite)
                return error.message
            }
        }
        #expect(
            message(MappingModel())
                == "The mapping model cannot be written: it did not come from a file, and only Xcode can create one; create it there."
        )
        var mapping = try load(MappingText.file(expression: ""))
        #expect(
            message(mapping, "/no/such/folder/xcmapping.xml")
                == "The mapping model cannot be written to '/no/such/folder/xcmapping.xml'; check that its folder exists and that this user may write to it."
        )
        mapping.entityMappings[0].name = "Cars"
        #expect(
            message(mapping)
                == "The mapping model cannot be written: it was changed after it was loaded; make the changes in Xcode."
        )
    }
}
