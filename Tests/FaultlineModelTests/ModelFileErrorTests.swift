import FaultlineModel
import Foundation
import TestFolders
import Testing

@Suite("A file that is not a model throws an error that says why")
struct ModelFileErrorTests {
    private let folder: URL

    init() throws {
        folder = try TestFolder.make()
    }

    private var file: String { path("contents") }

    private func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    private func write(_ text: String, _ name: String = "contents") throws {
        let url = folder.appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func message(_ name: String = "contents", version: String? = nil) -> String {
        do throws(ModelError) {
            _ = try ManagedObjectModel(contentsOf: folder.appendingPathComponent(name), version: version)
            return "no error"
        } catch {
            return error.message
        }
    }

    /// Returns the message for a model with these lines, the first of which is line 2.
    private func mistake(_ lines: String...) throws -> String {
        try write(
            "<model type=\"com.apple.IDECoreDataModeler.DataModel\">\n\(lines.joined(separator: "\n"))\n</model>\n")
        return message()
    }

    @Test func missingFile() {
        #expect(message("no") == "'\(path("no"))' does not exist; name a .xcdatamodeld or a .xcdatamodel.")
    }

    @Test func noXML() throws {
        try write("SQLite format 3")
        #expect(message() == "'\(file)' is not XML; name the contents of a .xcdatamodel.")
        try write("")
        #expect(message() == "'\(file)' is empty; name the contents of a .xcdatamodel.")
        // Foundation's parser would end the program on the second of these.
        for bytes in [[0, 255, 254, 60, 0], [0x3c, 0x6c, 0xf2, 0x3d, 0x22, 0x59]] as [[UInt8]] {
            try Data(bytes).write(to: folder.appendingPathComponent("contents"))
            #expect(message() == "'\(file)' is not XML in UTF-8; name the contents of a .xcdatamodel.")
        }
    }

    @Test func xmlOfSomethingElse() throws {
        try write("<?xml version=\"1.0\"?>\n<html><body/></html>")
        #expect(
            message()
                == "'\(file)' is XML, but not a data model: its outermost element is 'html', not 'model'; name the contents of a .xcdatamodel."
        )
        try write("<model type=\"SBML\"/>")
        #expect(
            message()
                == "'\(file)' is XML, but not a data model: its model has the type 'SBML'; name the contents of a .xcdatamodel."
        )
    }

    @Test func malformedXML() throws {
        try write("<model>\n<entity name=\"A\">\n</model>\n")
        #expect(
            message()
                == "'\(file)' is not well-formed XML: an end tag does not match the open element in line 3; name the contents of a .xcdatamodel."
        )
        try write("<model>\n<entity name=\"A\" name=\"B\"/>\n</model>\n")
        #expect(
            message()
                == "'\(file)' is not well-formed XML: an attribute appears twice in line 2; name the contents of a .xcdatamodel."
        )
        try write("<model>\n<entity name=\"A\"")
        #expect(message().hasPrefix("'\(file)' is not well-formed XML: "))
    }

    @Test("A truncated file is rejected, wherever it ends")
    func truncation() throws {
        let whole = Array(ModelPrintingTests.text.utf8.dropLast())
        for length in stride(from: 0, to: whole.count - 1, by: 7) {
            try Data(whole[..<length]).write(to: folder.appendingPathComponent("contents"))
            let message = message()
            #expect(message.hasPrefix("'\(file)' is "), "\(length): \(message)")
        }
    }

    @Test func foldersThatAreNoModel() throws {
        try write("", "Folder/notes.txt")
        #expect(
            message("Folder")
                == "'\(path("Folder"))' is not a model: it has neither a file 'contents' nor a folder whose name ends in .xcdatamodel; name a .xcdatamodeld or a .xcdatamodel."
        )
        try write("", "Model.momd/Model.mom")
        #expect(
            message("Model.momd")
                == "'\(path("Model.momd/Model.mom"))' is empty; name the contents of a .xcdatamodel."
        )
        try write("bplist00", "Model.momd/Model.mom")
        #expect(
            message("Model.momd")
                == "Cannot read the compiled model '\(path("Model.momd/Model.mom"))': it ends too early or is damaged; name the .xcdatamodeld that it was compiled from."
        )
        try write("momv2", "Copy/Model.omo")
        #expect(
            message("Copy/Model.omo")
                == "'\(path("Copy/Model.omo"))' is Core Data's optimized copy of a compiled model, which only Core Data can read, and 'Model.mom' is not beside it; name a .mom or the .xcdatamodeld."
        )
        try write("", "Old.xcdatamodel/elements")
        try write("", "Old.xcdatamodeld/Old.xcdatamodel/elements")
        for name in ["Old.xcdatamodel", "Old.xcdatamodeld"] {
            let old = name == "Old.xcdatamodel" ? name : "Old.xcdatamodeld/Old.xcdatamodel"
            #expect(
                message(name)
                    == "'\(path(old))' was saved by Xcode 3, in a form that only Xcode can read; save it with a later Xcode, which writes a file 'contents'."
            )
        }
        try write("<model/>", "Empty.xcdatamodeld/A.xcdatamodel/layout")
        #expect(
            message("Empty.xcdatamodeld")
                == "'\(path("Empty.xcdatamodeld/A.xcdatamodel/contents"))' does not exist; name a .xcdatamodeld or a .xcdatamodel."
        )
    }

    @Test func versions() throws {
        try write("<model/>", "M.xcdatamodeld/A.xcdatamodel/contents")
        #expect(message("M.xcdatamodeld") == "no error")
        try write("<model/>", "M.xcdatamodeld/B.xcdatamodel/contents")
        #expect(
            message("M.xcdatamodeld")
                == "'\(path("M.xcdatamodeld"))' does not specify which of its versions is current; choose one of 'A', 'B'."
        )
        #expect(
            message("M.xcdatamodeld", version: "C")
                == "'\(path("M.xcdatamodeld"))' has no version 'C'; choose one of 'A', 'B'.")
        #expect(message("M.xcdatamodeld", version: "B") == "no error")
        #expect(
            message("M.xcdatamodeld/A.xcdatamodel", version: "B")
                == "'\(path("M.xcdatamodeld/A.xcdatamodel"))' is a single version of a model, so the version 'B' cannot be chosen; name the .xcdatamodeld that contains it."
        )
        let current = "M.xcdatamodeld/.xccurrentversion"
        func list(_ inner: String) -> String {
            "<?xml version=\"1.0\"?>\n<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\(inner)</plist>"
        }
        try write(
            list("<dict><key>_XCCurrentVersionName</key><string>B.xcdatamodel</string></dict>"), current)
        #expect(try ModelVersions(contentsOf: folder.appendingPathComponent("M.xcdatamodeld")).current == "B")
        // A name that leads out of the folder is not one of its versions.
        for name in ["Z.xcdatamodel", "../../etc.xcdatamodel"] {
            try write(list("<dict><key>_XCCurrentVersionName</key><string>\(name)</string></dict>"), current)
            #expect(
                message("M.xcdatamodeld")
                    == "'\(path(current))' names '\(name)' as the current version, which does not exist; choose one of 'A', 'B'."
            )
        }
        try write("bplist00", current)
        #expect(
            message("M.xcdatamodeld")
                == "'\(path(current))' ends too early or is damaged; let Xcode write it again, or choose a version.")
        try write("<list/>", current)
        #expect(
            message("M.xcdatamodeld")
                == "'\(path(current))' is not a property list; let Xcode write it again, or choose a version.")
        #expect(
            message("M.xcdatamodeld/A.xcdatamodel/contents/x")
                == "'\(path("M.xcdatamodeld/A.xcdatamodel/contents/x"))' does not exist; name a .xcdatamodeld or a .xcdatamodel."
        )
        #expect(throws: ModelError.self) {
            _ = try ModelVersions(contentsOf: folder.appendingPathComponent("M.xcdatamodeld/A.xcdatamodel/contents"))
        }
    }

    @Test func mistakesInTheModel() throws {
        #expect(
            try mistake("<entity name=\"A\" parentEntity=\"B\"/>")
                == "Loading '\(file)', line 2: entity 'A' inherits from 'B', which the model does not have; add it or correct the name."
        )
        #expect(
            try mistake("<entity name=\"A\">", "<attribute name=\"x\" attributeType=\"Strin\"/>", "</entity>")
                == "Loading '\(file)', line 3: attribute 'A.x' has the type 'Strin', which is not one of Undefined, Integer 16, Integer 32, Integer 64, Decimal, Double, Float, String, Boolean, Date, Binary, UUID, URI, Transformable, Composite; correct it."
        )
        #expect(
            try mistake("<entity name=\"A\">", "<attribute name=\"x\"/>", "</entity>")
                == "Loading '\(file)', line 3: attribute 'A.x' has no type but is stored; give it a type or make it transient."
        )
        #expect(
            try mistake(
                "<entity name=\"A\">",
                "<attribute name=\"x\" attributeType=\"Integer 16\" defaultValueString=\"many\"/>", "</entity>")
                == "Loading '\(file)', line 3: attribute 'A.x' has the default 'many', which is not a value of type Integer 16; correct it."
        )
        #expect(
            try mistake(
                "<entity name=\"A\">",
                "<attribute name=\"x\" attributeType=\"Date\" minDateTimeInterval=\"today\"/>", "</entity>")
                == "Loading '\(file)', line 3: attribute 'A.x' has the minimum 'today', which is not a value of type Date; correct it."
        )
        #expect(
            try mistake("<entity name=\"A\">", "<relationship name=\"r\"/>", "</entity>")
                == "Loading '\(file)', line 3: relationship 'A.r' has no destination; name its destination entity."
        )
        #expect(
            try mistake("<entity name=\"A\">", "<relationship name=\"r\" destinationEntity=\"B\"/>", "</entity>")
                == "Loading '\(file)', line 3: relationship 'A.r' has the destination 'B', which the model does not have; add it or correct the name."
        )
        #expect(
            try mistake(
                "<entity name=\"A\">", "<relationship name=\"r\" destinationEntity=\"A\" inverseName=\"s\"/>",
                "</entity>")
                == "Loading '\(file)', line 3: the inverse of 'A.r' is named 's', which 'A' does not have; add it or correct the name."
        )
        #expect(
            try mistake(
                "<entity name=\"A\">", "<relationship name=\"r\" destinationEntity=\"A\" deletionRule=\"Burn\"/>",
                "</entity>")
                == "Loading '\(file)', line 3: relationship 'A.r' has the deletion rule 'Burn', which is not one of No Action, Nullify, Cascade, Deny; correct it."
        )
        #expect(
            try mistake(
                "<entity name=\"A\">",
                "<relationship name=\"r\" destinationEntity=\"A\" toMany=\"YES\" maxCount=\"-1\"/>",
                "</entity>")
                == "Loading '\(file)', line 3: relationship 'A.r' has the maxCount '-1', which is not a count; correct it."
        )
        #expect(
            try mistake("<entity name=\"A\"/>", "<configuration name=\"C\"><memberEntity name=\"B\"/></configuration>")
                == "Loading '\(file)', line 3: configuration 'C' names the entity 'B', which the model does not have; add it or correct the name."
        )
        #expect(
            try mistake(
                "<entity name=\"A\">",
                "<uniquenessConstraints><uniquenessConstraint><constraint value=\"x\"/></uniquenessConstraint></uniquenessConstraints>",
                "</entity>")
                == "Loading '\(file)', line 2: a uniqueness constraint of 'A' names 'x', which is not a stored attribute or to-one relationship of it; correct the name."
        )
        #expect(
            try mistake("<entity/>")
                == "Loading '\(file)', line 2: an entity declared at contents:2 has no name; give it one.")
    }

    @Test("Names that could break out of an SQL statement are rejected")
    func hostileNames() throws {
        #expect(
            try mistake("<entity name=\"A (x); DROP TABLE B\"/>")
                == "Loading '\(file)', line 2: entity 'A (x); DROP TABLE B' has an invalid name; use letters, digits and '_', and begin with a letter."
        )
        #expect(
            try mistake("<entity name=\"A\">", "<attribute name=\"x y\" attributeType=\"String\"/>", "</entity>")
                == "Loading '\(file)', line 3: property 'A.x y' has an invalid name; use letters, digits and '_', and do not begin with a digit."
        )
        #expect(
            try mistake(
                "<entity name=\"A\">", "<attribute name=\"x\" attributeType=\"String\"/>",
                "<fetchIndex name=\"a-b\"><fetchIndexElement property=\"x\"/></fetchIndex>", "</entity>")
                == "Loading '\(file)', line 4: fetch index 'a-b' of 'A' has an invalid name; use letters, digits and '_'."
        )
        #expect(try mistake("<entity name=\"Größe\"/>") == "no error")
    }

    @Test("A hostile file is rejected without doing harm")
    func hostileFiles() throws {
        // Foundation's parser ends the program on the processing instructions and on the notation.
        let instruction = "a processing instruction"
        let declarations = "a document type with its own declarations"
        for (text, what, line) in [
            ("<?go?><model/>", instruction, 1), ("<?xml version=\"1.0\"?>\n<model><?go now?></model>", instruction, 2),
            ("<!-- a -->\n\n<?go?><model/>", instruction, 3),
            ("<!DOCTYPE model [<?go?>]><model/>", declarations, 1),
            ("<!DOCTYPE model [<!NOTATION n SYSTEM \"x\">]><model/>", declarations, 1),
            ("<!DOCTYPE model [<!ENTITY e \"&#60;?go?>\">]><model>&e;</model>", declarations, 1),
            ("<!DOCTYPE model\n SYSTEM \"[\" [<!ENTITY e SYSTEM \"file:///etc/passwd\">]><model/>", declarations, 2),
        ] {
            try write(text)
            #expect(
                message()
                    == "'\(file)' has \(what) in line \(line), which is not allowed; name the contents of a .xcdatamodel."
            )
        }
        let hidden = "<?xml version=\"1.0\" encoding=\"UTF-7\"?>\n<model>+ADw-?go?+AD4-</model>"
        try write(hidden)
        #expect(message() == "'\(file)' is not XML in UTF-8; name the contents of a .xcdatamodel.")
        try #require("<model><?go?></model>".data(using: .utf16LittleEndian))
            .write(to: folder.appendingPathComponent("contents"))
        #expect(message() == "'\(file)' is not XML in UTF-8; name the contents of a .xcdatamodel.")
        for harmless in [
            "\u{feff}<?xml version='1.0' encoding='utf-8'?><!-- <?go?> --><model/>",
            "<!DOCTYPE model SYSTEM \"[<?go?>]\"><model><![CDATA[<?go?>]]></model>",
        ] {
            try write(harmless)
            #expect(message() == "no error")
        }
        try write("<model>" + String(repeating: "<a>", count: 100_000))
        #expect(
            message()
                == "'\(file)' nests elements more than 64 levels deep in line 1; name the contents of a .xcdatamodel."
        )
        try write("<model>" + String(repeating: "<a/>", count: 200_001) + "</model>")
        #expect(
            message()
                == "'\(file)' has more than 200000 elements; name the contents of a .xcdatamodel.")
        try write("<model>\n<entity\((0...1000).map { " a\($0)='='" }.joined())/></model>")
        #expect(
            message()
                == "'\(file)' has an element with more than 1000 attributes in line 2, which is not allowed; name the contents of a .xcdatamodel."
        )
        try Data(repeating: 32, count: (16 << 20) + 1).write(to: folder.appendingPathComponent("contents"))
        #expect(message() == "'\(file)' is larger than 16 MiB, which no model is; name another file.")
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "/dev/zero")
        #expect(message() == "'\(file)' is not a regular file; name another.")
    }

    @Test("A model that would exhaust memory is rejected")
    func hostileSizes() throws {
        let chain = (1...102).map { "<entity name=\"E\($0)\"\($0 == 1 ? "" : " parentEntity=\"E\($0 - 1)\"")/>" }
        #expect(
            try mistake(chain.joined())
                == "Loading '\(file)', line 2: entity 'E101' inherits through more than 100 levels; make the hierarchy shallower."
        )
        let attributes = (1...1000).map { "<attribute name=\"a\($0)\" attributeType=\"String\"/>" }.joined()
        let children = (1...200).map { "<entity name=\"E\($0)\" parentEntity=\"E\"/>" }.joined()
        #expect(
            try mistake("<entity name=\"E\">\(attributes)</entity>\(children)")
                == "Loading '\(file)': the model has more than the allowed 200000 properties, inherited ones included; split it."
        )
        #expect(
            try mistake((0...10_000).map { "<entity name=\"E\($0)\"/>" }.joined())
                == "Loading '\(file)': the model has 10001 entities, but at most 10000 are allowed; split it.")
    }
}
