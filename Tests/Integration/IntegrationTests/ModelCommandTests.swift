import Foundation
import SharedData
import Testing

@Suite("faultline model")
struct ModelCommandTests {
    private static func path(_ name: String) throws -> String { try SharedData.url("core-data-stores/" + name).path }
    private static let cars = "coredataplus/SampleModel/SampleModel.xcdatamodeld"

    @Test(
        "diff lists the changes, and whether a mapping can be inferred",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func diff() throws {
        let old = try Self.path(Self.cars + "/SampleModel.xcdatamodel")
        let new = try Self.path(Self.cars + "/SampleModel2.xcdatamodel")
        let result = try BuiltCommand.run(["model", "diff", old, new])
        #expect(
            result.output == """
                SampleModel → SampleModel2: 3 changes to stores.

                Changes that need a migration
                  – The attribute 'Car.color' was removed.
                  – The entity 'LuxuryCar' was renamed from 'ExpensiveSportCar'.
                  – The attribute 'Person.id' was removed.

                Changes that need no migration
                  – The attribute 'Car.currentDrivingSpeed' was removed.
                  – The index 'Car.byMakerAndNumberPlate' was added.
                  – The class name of the entity 'LuxuryCar' changed from ExpensiveSportCar to LuxuryCar.
                  – The renaming identifier of the entity 'LuxuryCar' changed from none to ExpensiveSportCar.
                  – The attribute 'Person.isDriving' was removed.

                Migration
                  – A mapping can be inferred, so a store is migrated by SQL alone.

                """)
        #expect(result.status == 0 && result.errors.isEmpty)
        let same = try BuiltCommand.run(["model", "diff", old, old])
        #expect(same.output == "SampleModel → SampleModel: the two versions are equal.\n")
    }

    @Test("diff warns of a renaming without an identifier", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func renaming() throws {
        let folder =
            "core-data-models/corestore/Demo/Sources/Demos/Advanced/EvolutionDemo/Advanced.EvolutionDemo.V1.xcdatamodeld"
        let names = ["Advanced.EvolutionDemo.V1", "Advanced.EvolutionDemo.V2"]
        let paths = try names.map { try SharedData.url("\(folder)/\($0).xcdatamodel").path }
        let text = try BuiltCommand.run(["model", "diff"] + paths).output
        #expect(text.contains("give it the renaming identifier 'numberOfFlagella'; without"))
        let json = try BuiltCommand.run(["model", "diff"] + paths + ["--format", "json"]).output
        let document = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(document["isInferable"] as? Bool == true && document["needsMigration"] as? Bool == true)
        #expect((document["differences"] as? [[String: Any]])?.count == 6)
        #expect(
            document["possibleRenamings"] as? [[String: String]]
                == [["entity": "Creature", "removed": "numberOfFlagella", "added": "numberOfFlippers"]])
    }

    @Test(
        "find names the version of a store of Apple's framework", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func find() throws {
        let store = try Self.path("coredataplus/SampleModel/Fixtures/SampleModel_V2.sqlite")
        let result = try BuiltCommand.run(
            ["model", "find", store, try Self.path(Self.cars), "--format", "json"])
        let document = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        let models = try #require(document["models"] as? [[String: Any]])
        #expect(
            models.compactMap { $0["name"] as? String } == ["SampleModel", "SampleModel2", "SampleModel3"])
        #expect(models.compactMap { $0["fits"] as? Bool } == [false, true, false])
        #expect(result.status == 0)
        let other = try BuiltCommand.run(
            ["model", "find", store, try Self.path("coredataplus/SampleModel3/SampleModel3.xcdatamodeld")])
        #expect(other.output.hasPrefix("The store"))
        #expect(other.output.replacing("\n", with: " ").contains("fits none of 3 versions."))
        #expect(other.status == 1)
    }

    @Test("find names the version of a store that Faultline wrote")
    func findOwn() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("list.sqlite")
        _ = try BuiltCommand.run(["workload", "groceries", "--store", store, "--items", "10", "--prepare"])
        let model = directory.path("Other.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try "<model><entity name=\"Item\"/></model>".write(
            toFile: model + "/contents", atomically: true, encoding: .utf8)
        let result = try BuiltCommand.run(["model", "find", store, model])
        #expect(result.output.contains("since the store's version, the attribute 'Item."))
        #expect(result.status == 1)
    }

    @Test("show lists entities and properties", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func show() throws {
        let result = try BuiltCommand.run(["model", "show", try Self.path("duckduckgo/BookmarksModel.xcdatamodeld")])
        #expect(result.output.hasPrefix("BookmarksModel 6: "))
        #expect(result.output.contains("\n  isPendingDeletion: Boolean, default 0\n"))
        #expect(result.output.contains("\nVersion checksum: "))
        let path = try Self.path("duckduckgo/BookmarksModel.xcdatamodeld")
        let classes = try BuiltCommand.run(["model", "show", path, "--format", "swift"])
        #expect(classes.status == 0 && classes.output.contains("\nfinal class BookmarkEntity: ManagedObject {\n"))
    }

    @Test(
        "A store stands for the version that it was written with", .enabled(if: SharedData.exists, "\(SharedData.need)")
    )
    func store() throws {
        let fixtures = "coredataplus/SampleModel/Fixtures/SampleModel"
        let (old, new) = (try Self.path("\(fixtures)_V1.sqlite"), try Self.path("\(fixtures)_V2.sqlite"))
        let shown = try BuiltCommand.run(["model", "show", new])
        #expect(shown.output.hasPrefix("SampleModel_V2.sqlite: 4 entities, "))
        #expect(shown.output.contains("\n  owner → Person, to-one, inverse cars\n"))
        let compared = try BuiltCommand.run(["model", "diff", old, new])
        #expect(
            compared.output.hasPrefix(
                """
                SampleModel_V1.sqlite → SampleModel_V2.sqlite: 3 changes to stores.

                Changes that need a migration
                  – The attribute 'Car.color' was removed.
                  – The entity 'LuxuryCar' was renamed from 'ExpensiveSportCar'.
                  – The attribute 'Person.id' was removed.

                """))
        let directory = try TemporaryDirectory()
        let copy = directory.path("Cars.sqlite")
        try FileManager.default.copyItem(atPath: old, toPath: copy)
        for arguments in [["--to", old], ["--to", try Self.path(Self.cars), "--from", old]] {
            let refused = try BuiltCommand.run(["migrate", copy] + arguments)
            #expect(refused.status == 2)
            #expect(
                refused.errors.hasSuffix(
                    "\" has only Core Data's own form of a model, which does not record whether the values of 'Car.color' are in external files; name the .xcdatamodeld or .xcdatamodel.\n"
                ))
        }
        let model = try Self.path("coredataplus/SampleModel/SampleModel.xcdatamodeld/SampleModel2.xcdatamodel")
        #expect(try BuiltCommand.run(["migrate", copy, "--to", model]).status == 0)
        #expect(try BuiltCommand.run(["model", "show", copy]).output.contains("\nLuxuryCar: SportCar\n"))
        // A store of Faultline has a complete copy, so another one can be migrated to its version.
        let other = directory.path("Other.sqlite")
        try FileManager.default.copyItem(atPath: old, toPath: other)
        #expect(try BuiltCommand.run(["migrate", other, "--to", copy]).status == 0)
        let link = directory.path("Link.sqlite")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: other)
        #expect(try BuiltCommand.run(["model", "show", link]).output.contains("\nLuxuryCar: SportCar\n"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path).count == 3)
        let chinook = try SharedData.url("chinook/Chinook_Sqlite.sqlite").path
        #expect(
            try BuiltCommand.run(["model", "show", chinook]).errors
                == "faultline: \"\(chinook)\" is not a Core Data or Faultline store: it has no table Z_METADATA; name the store that the program used.\n"
        )
    }

    @Test("reports files that are no models and no stores")
    func badInput() throws {
        let directory = try TemporaryDirectory()
        let none = try BuiltCommand.run(["model", "show", directory.path("none.xcdatamodeld")])
        #expect(none.status == 2 && none.errors.hasPrefix("faultline: "))
        // Nobody writes to it, so reading it would never end.
        let pipe = directory.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(try BuiltCommand.run(["model", "show", pipe]).status == 2)
        let text = directory.path("text")
        try "text".write(toFile: text, atomically: true, encoding: .utf8)
        let model = directory.path("M.xcdatamodel")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: true)
        try "<model><entity name=\"Item\"/></model>".write(
            toFile: model + "/contents", atomically: true, encoding: .utf8)
        let store = try BuiltCommand.run(["model", "find", text, model])
        #expect(store.status == 2)
        #expect(
            store.errors
                == "faultline: '\(text)' is not an SQLite database; name another file, or move this one away.\n")
    }

    @Test(
        "Compiled models are shown, compared, found and migrated to",
        .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func compiled() throws {
        let folder = "coredataplus/SampleModel/"
        let compiled = try Self.path(folder + "Compiled/SampleModel.momd")
        let shown = try BuiltCommand.run(["model", "show", compiled + "/SampleModel.omo"])
        #expect(shown.output.hasPrefix("SampleModel: 4 entities, 14 properties\n"))
        let source = try Self.path(Self.cars + "/SampleModel3.xcdatamodel")
        let same = try BuiltCommand.run(["model", "diff", compiled + "/SampleModel3.mom", source])
        #expect(same.output == "SampleModel3 → SampleModel3: the two versions are equal.\n", "\(same)")
        let store = try Self.path(folder + "Fixtures/SampleModel_V1.sqlite")
        let found = try BuiltCommand.run(["model", "find", store, compiled, "--format", "json"])
        #expect(found.status == 0)
        let document = try #require(try JSONSerialization.jsonObject(with: Data(found.output.utf8)) as? [String: Any])
        let models = try #require(document["models"] as? [[String: Any]])
        #expect(models.map { $0["fits"] as? Bool } == [true, false, false])
        let copy = try TemporaryDirectory()
        let cars = copy.path("Cars.sqlite")
        try FileManager.default.copyItem(atPath: store, toPath: cars)
        #expect(try BuiltCommand.run(["migrate", cars, "--to", compiled + "/SampleModel2.mom"]).status == 0)
        #expect(try BuiltCommand.run(["migrate", cars, "--to", compiled]).status == 2)
    }

    @Test("A copy of a model that cannot be read is explained", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func unreadable() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("Cars.sqlite")
        try FileManager.default.copyItem(
            atPath: try Self.path("coredataplus/SampleModel/Fixtures/SampleModel_V1.sqlite"), toPath: store)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: store)
        // The compressed text "no list".
        let sql = "UPDATE Z_MODELCACHE SET Z_CONTENT = x'cbcb57c8c92c2e0100'"
        #expect(try BuiltCommand.run([store, sql], program: "/usr/bin/sqlite3").status == 0)
        #expect(
            try BuiltCommand.run(["model", "find", store, store]).errors
                == "faultline: Cannot read the copy of the model in \"\(store)\": it is not a binary property list; name a model file.\n"
        )
    }

    @Test("A mapping model is shown without its two models", .enabled(if: SharedData.exists, "\(SharedData.need)"))
    func mapping() throws {
        let path = try Self.path("coredataplus/SampleModel/MappingModels/V2toV3.xcmappingmodel")
        let shown = try BuiltCommand.run(["model", "show", path])
        #expect(
            shown.output.hasPrefix(
                """
                V2toV3: 5 entity mappings, from SampleModel2.xcdatamodel to SampleModel3.xcdatamodel

                CarToCar: Car → Car, by the policy REPLACE_AT_RUNTIME.V2to3MakerPolicy
                  previousOwners ← FUNCTION($manager,

                """), "\(shown)")
        #expect(shown.output.hasSuffix("\nMaker: Maker is new\n  name keeps its default\n  cars stays empty\n"))
        let directory = try TemporaryDirectory()
        let page = directory.path("page.html")
        #expect(try BuiltCommand.run(["model", "show", path, "--format", "html", "-o", page]).status == 0)
        let classes = try BuiltCommand.run(["model", "show", path, "--format", "swift"])
        #expect(classes.status == 2)
        #expect(classes.errors == "faultline: '\(path)' is a mapping model, which has no classes; name a model.\n")
        let missing = try BuiltCommand.run(["model", "show", "Missing.xcmappingmodel"])
        #expect(missing.status == 2 && missing.errors.hasSuffix("' does not exist; name a .xcmappingmodel.\n"))
    }
}
