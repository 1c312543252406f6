import FaultlineModel
import Foundation
import SharedData
import TestFolders
import Testing

@Suite("The archive of an expression")
struct ExpressionArchiveTests {
    private let file: URL
    private let models: (source: ManagedObjectModel, destination: ManagedObjectModel)

    init() throws {
        file = try TestFolder.make().appendingPathComponent("xcmapping.xml")
        models = try MappingText.models()
    }

    /// The binary archive of `$source.owner.größe`, made by Python's plistlib.
    static let binary = """
        YnBsaXN0MDDUAQIDBAUGNzpZJGFyY2hpdmVyWCRvYmplY3RzVCR0b3BYJHZlcnNpb25fEA9OU0tleWVkQXJjaGl2ZXKsBwgTFBka
        ISYrLC8zVSRudWxs1QkKCwwNDg8QERJWJGNsYXNzW05TQXJndW1lbnRzXxAQTlNFeHByZXNzaW9uVHlwZVlOU09wZXJhbmReTlNT
        ZWxlY3Rvck5hbWWAC4AGEASAA4ACXxAQdmFsdWVGb3JLZXlQYXRoOtMJCxUWFxhaTlNWYXJpYWJsZYAFEAKABFZzb3VyY2XSGxwd
        HlgkY2xhc3Nlc1okY2xhc3NuYW1lox4fIF8QFE5TVmFyaWFibGVFeHByZXNzaW9uXE5TRXhwcmVzc2lvblhOU09iamVjdNIJIiMk
        Wk5TLm9iamVjdHOACqElgAfTCQsnKCkqWU5TS2V5UGF0aIAJEAqACGsAbwB3AG4AZQByAC4AZwByAPYA3wBl0hscLS6jLh8gXxAc
        TlNLZXlQYXRoU3BlY2lmaWVyRXhwcmVzc2lvbtIbHDAxozEyIF5OU011dGFibGVBcnJheVdOU0FycmF50hscNDWkNTYfIF8QE05T
        S2V5UGF0aEV4cHJlc3Npb25fEBROU0Z1bmN0aW9uRXhwcmVzc2lvbtE4OVRyb290gAESAAGGoAAIABEAGwAkACkAMgBEAFEAVwBi
        AGkAdQCIAJIAoQCjAKUApwCpAKsAvgDFANAA0gDUANYA3QDiAOsA9gD6AREBHgEnASwBNwE5ATsBPQFEAU4BUAFSAVQBawFwAXQB
        kwGYAZwBqwGzAbgBvQHTAeoB7QHyAfQAAAAAAAACAQAAAAAAAAA7AAAAAAAAAAAAAAAAAAAB+Q==
        """

    /// Returns the expression of `Car.paint` in a file with an archive, or the reason why it cannot be read.
    private func result(_ base64: String) throws -> String {
        try Data(MappingText.file(expression: base64).utf8).write(to: file)
        do throws(ModelError) {
            let mapping = try MappingModel(contentsOf: file, from: models.source, to: models.destination)
            return mapping.entityMappings[0].attributeMappings[0].valueExpression?.description ?? "none"
        } catch {
            let (start, end) = (
                "Loading '\(file.path)', line 4: the archive of the expression of 'Car.paint' ",
                "; enter the expression again in Xcode."
            )
            guard error.message.hasPrefix(start), error.message.hasSuffix(end) else { return error.message }
            #expect(error.code == .invalidExpression)
            #expect(error.property == "paint")
            return String(error.message.dropFirst(start.count).dropLast(end.count))
        }
    }

    /// Returns the result for an XML archive whose objects have these elements, the second of them the outermost expression.
    private func xml(_ objects: [String], root: String = Self.reference(1)) throws -> String {
        let text = """
            <plist version="1.0"><dict><key>$archiver</key><string>NSKeyedArchiver</string>
            <key>$top</key><dict><key>root</key>\(root)</dict>
            <key>$objects</key><array><string>$null</string>\(objects.joined())</array></dict></plist>
            """
        return try result(Data(text.utf8).base64EncodedString())
    }

    private static func reference(_ number: Int) -> String {
        "<dict><key>CF$UID</key><integer>\(number)</integer></dict>"
    }

    private func object(_ name: String, _ entries: [(String, String)]) -> String {
        let type = "<key>$class</key><dict><key>$classname</key><string>\(name)</string></dict>"
        return "<dict>\(type)\(entries.map { "<key>\($0)</key>\($1)" }.joined())</dict>"
    }

    private func constant(_ value: String) -> String {
        object("NSConstantValueExpression", [("NSConstantValue", value)])
    }

    private func variable(_ name: String) -> String {
        object("NSVariableExpression", [("NSVariable", "<string>\(name)</string>")])
    }

    private func function(_ selector: String, _ operand: String, _ arguments: [String]) -> String {
        object(
            "NSFunctionExpression",
            [
                ("NSSelectorName", "<string>\(selector)</string>"), ("NSOperand", operand),
                ("NSArguments", object("NSArray", [("NS.objects", "<array>\(arguments.joined())</array>")])),
            ])
    }

    @Test("can be binary")
    func binary() throws {
        #expect(
            try result(Self.binary)
                == "Loading '\(file.path)', line 4: the expression '$source.owner.größe' of 'Car.paint' reads 'Person.größe', which the older model does not have; choose other models, or correct the expression in Xcode."
        )
    }

    @Test("can be XML, and has constants of many types")
    func constants() throws {
        for (value, text) in [
            ("<true/>", "YES"), ("<false/>", "NO"), ("<integer>-3</integer>", "-3"), ("<real>2.5</real>", "2.5"),
            ("<string>a b</string>", "\"a b\""), ("<data>AAEC</data>", "<3 bytes>"), (Self.reference(0), "nil"),
            ("<date>2001-01-01T00:00:10Z</date>", "CAST(10.0, \"NSDate\")"),
            (object("NSNull", []), "nil"), (object("NSDate", [("NS.time", "<real>3</real>")]), "CAST(3.0, \"NSDate\")"),
            (object("NSMutableString", [("NS.string", "<string>x</string>")]), "\"x\""),
            (object("NSMutableData", [("NS.data", "<data>AA==</data>")]), "<1 bytes>"),
            (
                object("NSUUID", [("NS.uuidbytes", "<data>AAECAwQFBgcICQoLDA0ODw==</data>")]),
                "00010203-0405-0607-0809-0A0B0C0D0E0F"
            ),
            (object("NSLocale", []), "has a constant of the class 'NSLocale', which is not supported"),
            ("<array/>", "has a constant that is not a value"),
            ("<integer>many</integer>", "has an invalid value of the type 'integer'"),
            ("<set/>", "has an invalid value of the type 'set'"),
            (Self.reference(7), "refers to object 7, but has only 2"),
        ] {
            #expect(try xml([constant(value)]) == text)
        }
    }

    @Test("has functions, also nested ones")
    func functions() throws {
        #expect(
            try xml([
                function("title:of:", variable("entityPolicy"), [constant("<integer>1</integer>"), Self.reference(2)]),
                function("valueForKey:", variable("source"), [constant("<string>color</string>")]),
            ]) == "FUNCTION($entityPolicy, \"title:of:\", 1, FUNCTION($source, \"valueForKey:\", \"color\"))")
        let type = object("NSConstantValueExpression", [("NSConstantValueClassName", "<string>NSDate</string>")])
        #expect(try xml([function("date", type, [])]) == "FUNCTION(CAST(\"NSDate\", \"Class\"), \"date\")")
        let utilities = object(
            "NSConstantValueExpression", [("NSConstantValueClassName", "<string>_NSPredicateUtilities</string>")])
        #expect(
            try xml([
                function(
                    "castObject:toType:", utilities, [constant("<real>1</real>"), constant("<string>NSDate</string>")])
            ]) == "CAST(1.0, \"NSDate\")")
    }

    @Test("is refused if it has something else")
    func others() throws {
        #expect(try result("%%%") == "is not base64")
        #expect(try result("AAAA") == "is not a property list")
        #expect(try result(Data("<list/>".utf8).base64EncodedString()) == "is not a property list")
        #expect(
            try result(Data("<plist><dict><key>a</key><true/></dict></plist>".utf8).base64EncodedString())
                == "is not a keyed archive")
        #expect(
            try xml([variable("sauce")])
                == "has the variable '$sauce', which is not one of '$manager', '$source', '$destination', '$entityMapping', '$propertyMapping', '$entityPolicy'"
        )
        #expect(
            try xml([object("NSSelfExpression", [])])
                == "has an expression of the class 'NSSelfExpression', which is not supported")
        #expect(try xml([object("NSVariableExpression", [])]) == "lacks an object")
        #expect(try xml(["<string>a</string>"]) == "lacks an object")
        #expect(try xml([object("NSVariableExpression", [("NSVariable", "<true/>")])]) == "lacks a name")
        #expect(
            try xml([
                object(
                    "NSFunctionExpression", [("NSSelectorName", "<string>a</string>"), ("NSArguments", "<dict/>")])
            ]) == "lacks a list")
    }

    @Test("is refused if expressions contain themselves, or are too many")
    func cycles() throws {
        let deep = "nests expressions more than 100 levels deep, or one contains itself"
        #expect(try xml([function("a:", variable("source"), [Self.reference(1)])]) == deep)
        #expect(try xml([function("a", Self.reference(1), [])]) == deep)
        let chain = (1...10_000).map { number in
            """
            <dict><key>$class</key>\(Self.reference(10_002))<key>NSSelectorName</key><string>a</string>
            <key>NSOperand</key>\(Self.reference(number + 1))<key>NSArguments</key>\(Self.reference(10_003))</dict>
            """
        }
        let type = "<dict><key>$classname</key><string>NSFunctionExpression</string></dict>"
        let arguments = object("NSArray", [("NS.objects", "<array/>")])
        #expect(try xml(chain + [variable("source"), type, arguments]) == deep)
        let two = Array(chain[..<2]) + Array(repeating: "<true/>", count: 9_998)
        #expect(
            try xml(
                two.map { $0.replacing("<integer>3</integer>", with: "<integer>10001</integer>") }
                    + [variable("source"), type, arguments])
                == "FUNCTION(FUNCTION($source, \"a\"), \"a\")")
        let tree = (1...50).map {
            function("a:", variable("source"), [Self.reference($0 + 1), Self.reference($0 + 1)])
        }
        #expect(try xml(tree + [variable("source")]) == "has more than 10000 expressions")
    }

    @Test("is an error or a value if it is cut off or damaged anywhere")
    func damage() throws {
        let whole = [UInt8](try #require(Data(base64Encoded: Self.binary, options: .ignoreUnknownCharacters)))
        for length in 0..<whole.count {
            let text = try result(Data(whole[..<length]).base64EncodedString())
            #expect(text != "none" || length == 0)
        }
        for index in whole.indices {
            var bytes = whole
            bytes[index] = [0, 0x0f, 0x7f, 0xaf, 0xdf, 0xff][index % 6]
            _ = try result(Data(bytes).base64EncodedString())
        }
    }

    @Test("is refused if its lists contain themselves, or expand without a bound")
    func hostileLists() throws {
        func list(_ objects: [[UInt8]]) -> String { PropertyListBytes.list(objects).base64EncodedString() }
        #expect(try result(list([PropertyListBytes.array(0)])) == "has a list that contains itself")
        #expect(
            try result(PropertyListBytes.doubling().base64EncodedString()) == "expands to more than 1000000 objects")
        for object: [UInt8] in [
            [0xaf, 0x13, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
            [0xdf, 0x13, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0xaf], [0x5f, 0x10], [0x41], [0xa1, 9],
            [0x61, 0xd8, 0x00], [0x51, 0xff], [0x15], [0x20], [0x30], [0x70], [0x01],
        ] {
            #expect(try result(list([object])) == "ends too early or is damaged")
        }
        let long = [0x14] + Array(repeating: 0xff, count: 16) as [UInt8]
        #expect(try result(list([long])) == "has an integer of more than 64 bits")
        #expect(try result(list([[0x08]])) == "is not a keyed archive")
    }
}
