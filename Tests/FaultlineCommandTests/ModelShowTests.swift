import FaultlineReport
import Foundation
import TestFolders
import Testing

@testable import faultline

@Suite("faultline model show")
struct ModelShowTests {
    private func listing(_ entity: String) throws -> ModelListing {
        let folder = try TestFolder.make().appendingPathComponent("Shop.xcdatamodel")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">\(entity)</model>
            """
        try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
        return try ModelListing(path: folder.path)
    }

    private let item = """
        <entity name="Item"><attribute name="isDeleted" optional="YES" attributeType="Boolean"/></entity>
        """

    @Test("warns of names that every object has, in the text and in the JSON")
    func warnings() throws {
        let sentence =
            "Item.isDeleted has a name that every object has already, which Core Data's model compiler refuses. Another name would be itemIsDeleted."
        let shown = try listing(item)
        let text = shown.text(Layout(width: 400, isColoured: false))
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(words.hasPrefix("Shop: 1 entity, 1 property ! \(sentence) Item "))
        #expect(shown.json(Layout(width: 400, isColoured: false)).contains(sentence))
        let other = try listing(item.replacing("isDeleted", with: "isGone"))
        #expect(!other.text(Layout(width: 400, isColoured: false)).contains("!"))
    }

    @Test("prints the classes of a model as Swift source")
    func classes() throws {
        let swift = try #require(Renderers.all.first { $0.name == "swift" })
        let printer = try #require(swift.printer(of: ModelListing.self))
        let text = printer(try listing(item), Layout(width: 80, isColoured: false))
        #expect(text.hasPrefix("// The classes of the model Shop, written by"))
        #expect(text.contains("    static let itemIsDeleted = AttributeKey<Bool?>(\"isDeleted\")\n"))
        #expect(swift.printer(of: VersionComparison.self) == nil)
    }
}
