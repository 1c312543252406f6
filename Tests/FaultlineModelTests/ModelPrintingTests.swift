import FaultlineModel
import Foundation
import TestFolders
import Testing

@Suite("A model is printed as Xcode prints it")
struct ModelPrintingTests {
    private func load(_ text: String) throws -> ManagedObjectModel {
        let url = TestFolder.file()
        defer { try? FileManager.default.removeItem(at: url) }
        try Data(text.utf8).write(to: url)
        return try ManagedObjectModel(contentsOf: url)
    }

    /// Builds a model in code that uses every feature.
    private func everything() throws -> ManagedObjectModel {
        try ManagedObjectModel(
            entities: [
                EntityDescription(
                    "Album", parent: "Thing", isAbstract: true,
                    attributes: [
                        AttributeDescription(
                            "count", .integer64, derivationExpression: "tracks.@count", usesScalarValueType: true),
                        AttributeDescription(
                            "title", .string, isOptional: false, defaultValue: "A \"<&>\"\n\t", minimumValue: 1,
                            maximumValue: 64, regularExpression: "^[A-Z]", isIndexed: true, isIndexedBySpotlight: true,
                            preservesValueInHistoryOnDeletion: true, allowsCloudEncryption: true, isSyncable: false,
                            renamingIdentifier: "name", versionHashModifier: "2", userInfo: ["b": "2", "a": "1"]),
                        AttributeDescription(
                            "price", .decimal, defaultValue: .decimal(Decimal(string: "9.99")!),
                            minimumValue: .decimal(0), maximumValue: .decimal(100)),
                        AttributeDescription(
                            "released", .date, defaultValue: .date(Date(timeIntervalSinceReferenceDate: 86400.5)),
                            minimumValue: .date(Date(timeIntervalSinceReferenceDate: 0)),
                            maximumValue: .date(Date(timeIntervalSinceReferenceDate: 1e9))),
                        AttributeDescription("isLive", .boolean, defaultValue: true),
                        AttributeDescription("rating", .float, defaultValue: 0.5),
                        AttributeDescription("page", .uri, defaultValue: .uri(URL(string: "https://a.example/?b&c")!)),
                        AttributeDescription(
                            "id", .uuid,
                            defaultValue: .uuid(UUID(uuidString: "753753D3-A961-4901-AB05-8CC48B1D3853")!)),
                        AttributeDescription(
                            "cover", .transformable, allowsExternalBinaryDataStorage: true,
                            valueTransformerName: "Images", attributeValueClassName: "Image"),
                        AttributeDescription("cache", .undefined, isTransient: true),
                        AttributeDescription("size", .composite),
                    ],
                    relationships: [
                        RelationshipDescription(
                            "tracks", to: "Track", inverse: "album", isToMany: true, isOrdered: true,
                            isOptional: false, deleteRule: .cascade, minimumCount: 1, maximumCount: 99,
                            isIndexedBySpotlight: true, isSyncable: false, renamingIdentifier: "songs",
                            versionHashModifier: "3", userInfo: ["c": "3"]),
                        RelationshipDescription(
                            "next", to: "Album", inverse: nil, isTransient: true, deleteRule: .noAction),
                        RelationshipDescription("liked", to: "Thing", inverse: nil, isToMany: true, deleteRule: .deny),
                    ],
                    fetchedProperties: [
                        FetchedPropertyDescription(
                            "similar",
                            fetchRequest: FetchRequestTemplate(
                                "similar", entity: "Album", predicate: "title == $FETCH_SOURCE.title"),
                            userInfo: ["d": "4"])
                    ],
                    indexes: [
                        FetchIndexDescription(
                            "byTitle",
                            elements: [
                                .init("title"), .init("released", isAscending: false),
                                .init(expression: "lowercase:(title)", type: .string),
                            ]),
                        FetchIndexDescription("byRange", elements: [.init("rating", kind: .rTree)]),
                    ], compoundIndexes: [["title", "released"], ["price"]],
                    uniquenessConstraints: [["title", "released"], ["id"]], managedObjectClassName: ".Album",
                    codeGenerationType: "class", isSyncable: false, renamingIdentifier: "Record",
                    versionHashModifier: "1", coreSpotlightDisplayNameExpression: "title", userInfo: ["e": "5"]),
                EntityDescription("Thing"),
                EntityDescription(
                    "Track", relationships: [RelationshipDescription("album", to: "Album", inverse: "tracks")]),
            ], versionIdentifiers: ["1.0"],
            configurations: [
                ConfigurationDescription("Cloud", entities: ["Album", "Track"], isUsedWithCloudKit: true)
            ],
            fetchRequestTemplates: [FetchRequestTemplate("All", entity: "Album")],
            compositeAttributes: [
                CompositeAttributeDescription(
                    "Size",
                    elements: [AttributeDescription("width", .double), AttributeDescription("height", .double)])
            ])
    }

    static let text = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" minimumToolsVersion="Automatic" sourceLanguage="Swift" userDefinedModelVersionIdentifier="1.0">
            <entity name="Album" representedClassName=".Album" parentEntity="Thing" isAbstract="YES" elementID="Record" versionHashModifier="1" syncable="NO" codeGenerationType="class" coreSpotlightDisplayNameExpression="title">
                <attribute name="count" optional="YES" attributeType="Integer 64" usesScalarValueType="YES" derived="YES" derivationExpression="tracks.@count"/>
                <attribute name="title" attributeType="String" minValueString="1" maxValueString="64" defaultValueString="A &quot;&lt;&amp;&gt;&quot;&#10;&#9;" elementID="name" versionHashModifier="2" syncable="NO" allowsCloudEncryption="YES" indexed="YES" preserveAfterDeletion="YES" regularExpressionString="^[A-Z]" spotlightIndexingEnabled="YES">
                    <userInfo>
                        <entry key="a" value="1"/>
                        <entry key="b" value="2"/>
                    </userInfo>
                </attribute>
                <attribute name="price" optional="YES" attributeType="Decimal" minValueString="0" maxValueString="100" defaultValueString="9.99"/>
                <attribute name="released" optional="YES" attributeType="Date" minDateTimeInterval="0" maxDateTimeInterval="1000000000" defaultDateTimeInterval="86400.5"/>
                <attribute name="isLive" optional="YES" attributeType="Boolean" defaultValueString="YES"/>
                <attribute name="rating" optional="YES" attributeType="Float" defaultValueString="0.5"/>
                <attribute name="page" optional="YES" attributeType="URI" defaultValueString="https://a.example/?b&amp;c"/>
                <attribute name="id" optional="YES" attributeType="UUID" defaultValueString="753753D3-A961-4901-AB05-8CC48B1D3853"/>
                <attribute name="cover" optional="YES" attributeType="Transformable" valueTransformerName="Images" customClassName="Image" allowsExternalBinaryDataStorage="YES"/>
                <attribute name="cache" optional="YES" transient="YES"/>
                <attribute name="size" optional="YES" attributeType="Composite"/>
                <relationship name="tracks" toMany="YES" minCount="1" maxCount="99" deletionRule="Cascade" ordered="YES" destinationEntity="Track" inverseName="album" inverseEntity="Track" elementID="songs" versionHashModifier="3" syncable="NO" spotlightIndexingEnabled="YES">
                    <userInfo>
                        <entry key="c" value="3"/>
                    </userInfo>
                </relationship>
                <relationship name="next" optional="YES" maxCount="1" transient="YES" deletionRule="No Action" destinationEntity="Album"/>
                <relationship name="liked" optional="YES" toMany="YES" deletionRule="Deny" destinationEntity="Thing"/>
                <fetchedProperty name="similar" optional="YES">
                    <fetchRequest name="similar" entity="Album" predicateString="title == $FETCH_SOURCE.title"/>
                    <userInfo>
                        <entry key="d" value="4"/>
                    </userInfo>
                </fetchedProperty>
                <fetchIndex name="byTitle">
                    <fetchIndexElement property="title" type="Binary" order="ascending"/>
                    <fetchIndexElement property="released" type="Binary" order="descending"/>
                    <fetchIndexElement expression="lowercase:(title)" expressionType="String" type="Binary" order="ascending"/>
                </fetchIndex>
                <fetchIndex name="byRange">
                    <fetchIndexElement property="rating" type="RTree" order="ascending"/>
                </fetchIndex>
                <compoundIndexes>
                    <compoundIndex>
                        <index value="title"/>
                        <index value="released"/>
                    </compoundIndex>
                    <compoundIndex>
                        <index value="price"/>
                    </compoundIndex>
                </compoundIndexes>
                <uniquenessConstraints>
                    <uniquenessConstraint>
                        <constraint value="title"/>
                        <constraint value="released"/>
                    </uniquenessConstraint>
                    <uniquenessConstraint>
                        <constraint value="id"/>
                    </uniquenessConstraint>
                </uniquenessConstraints>
                <userInfo>
                    <entry key="e" value="5"/>
                </userInfo>
            </entity>
            <entity name="Thing" syncable="YES"/>
            <entity name="Track" syncable="YES">
                <relationship name="album" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Album" inverseName="tracks" inverseEntity="Album"/>
            </entity>
            <fetchRequest name="All" entity="Album"/>
            <compositeAttribute name="Size">
                <attribute name="width" optional="YES" attributeType="Double"/>
                <attribute name="height" optional="YES" attributeType="Double"/>
            </compositeAttribute>
            <configuration name="Cloud" usedWithCloudKit="YES">
                <memberEntity name="Album"/>
                <memberEntity name="Track"/>
            </configuration>
        </model>

        """

    @Test("A model built in code is printed completely, and loads as the same model")
    func madeInCode() throws {
        let model = try everything()
        #expect(try model.contents().split(separator: "\n") == Self.text.split(separator: "\n"))
        let loaded = try load(Self.text)
        #expect(loaded == model)
        #expect(loaded.entities == model.entities)
        #expect(try loaded.contents() == Self.text)
        #expect(loaded.fetchRequestTemplate(named: "All")?.entity == "Album")
        #expect(loaded.entities(forConfiguration: "Cloud")?.map(\.name) == ["Album", "Track"])
    }

    /// Unknown elements and attributes, and unusual spellings.
    static let odd = """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
        <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" color="blue" userDefinedModelVersionIdentifier="">
            <future kind="x">
                <part/>
            </future>
            <entity name="Thing" future="yes" syncable="NO">
                <shape sides="3"/>
                <attribute name="a" optional="NO" attributeType="Integer 16" defaultValueString="NO" future="1" syncable="YES">
                    <hint/>
                </attribute>
                <attribute name="b" attributeType="Float" defaultValueString="0.0" usesScalarValueType="NO"/>
                <attribute name="c" attributeType="Integer 32" minValueString="" defaultValueString="3.0" valueTransformerName=""/>
                <relationship name="r" optional="YES" maxCount="1" deletionRule="Nullify" destinationEntity="Thing" inverseName="" future="2"/>
                <fetchIndex name="i" future="3">
                    <fetchIndexElement property="a" type="Cube" order="ascending" future="4"/>
                </fetchIndex>
                <userInfo/>
            </entity>
            <elements>
                <element name="Thing" positionX="-9" positionY="36" width="128" height="118"/>
            </elements>
        </model>

        """

    @Test("Unknown content is ignored but preserved")
    func unknown() throws {
        let model = try load(Self.odd)
        let thing = model.entities[0]
        #expect(thing.attributes.map(\.defaultValue) == [0, 0.0, 3])
        #expect(thing.attributes.map(\.isOptional) == [false, false, false])
        #expect(thing.relationships[0].inverse == nil)
        #expect(thing.indexes[0].elements == [FetchIndexDescription.Element("a")])
        #expect(try XMLTree(Data(model.contents().utf8)) == XMLTree(Data(Self.odd.utf8)))
    }

    @Test("Changes are printed, and everything else stays as it was")
    func changes() throws {
        var entities = try load(Self.odd).entities
        entities[0].attributes[0].isOptional = true
        entities[0].attributes[0].defaultValue = nil
        entities[0].attributes.remove(at: 1)
        entities[0].attributes.append(AttributeDescription("d", .string))
        entities[0].relationships[0].deleteRule = .cascade
        entities[0].indexes[0].elements[0].isAscending = false
        entities[0].userInfo = ["k": "v"]
        let changed = try ManagedObjectModel(entities: entities)
        #expect(
            try changed.contents() == """
                <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
                <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0" minimumToolsVersion="Automatic" sourceLanguage="Swift">
                    <entity name="Thing" syncable="NO" future="yes">
                        <shape sides="3"/>
                        <attribute name="a" optional="YES" attributeType="Integer 16" syncable="YES" future="1">
                            <hint/>
                        </attribute>
                        <attribute name="c" attributeType="Integer 32" minValueString="" defaultValueString="3.0" valueTransformerName=""/>
                        <attribute name="d" optional="YES" attributeType="String"/>
                        <relationship name="r" optional="YES" maxCount="1" deletionRule="Cascade" destinationEntity="Thing" inverseName="" future="2"/>
                        <fetchIndex name="i" future="3">
                            <fetchIndexElement property="a" type="Binary" order="descending"/>
                        </fetchIndex>
                        <userInfo>
                            <entry key="k" value="v"/>
                        </userInfo>
                    </entity>
                </model>

                """)
        #expect(try load(changed.contents()) == changed)
    }

    @Test("A model that a file cannot hold throws an error")
    func unprintable() throws {
        func message(_ model: ManagedObjectModel) -> String {
            do throws(ModelError) {
                return try model.contents()
            } catch {
                return error.message
            }
        }
        #expect(
            message(try ManagedObjectModel(entities: [], versionIdentifiers: ["1", "2"]))
                == "The model cannot be written: it has 2 version identifiers, but a model file can hold only one; remove the others."
        )
        #expect(
            message(try ManagedObjectModel(entities: [EntityDescription("A", userInfo: ["k": "a\u{1}"])]))
                == "The model cannot be written: 'value' of 'entry' contains a control character (1), which XML does not allow; remove it."
        )
        let model = try ManagedObjectModel(entities: [])
        do throws(ModelError) {
            try model.write(to: URL(fileURLWithPath: "/no/such/folder/contents"))
            Issue.record("it was written")
        } catch {
            #expect(
                error.message
                    == "The model cannot be written to '/no/such/folder/contents'; check that its folder exists and that this user may write to it."
            )
            #expect(error.code == .cannotWrite)
        }
    }

    @Test(
        "A composite attribute has the elements of the definition that one of its settings names, or that has its name")
    func compositeElements() throws {
        func elements(_ attributes: String, _ definitions: String...) throws -> [[String]] {
            let bodies = definitions.map { name in
                "<compositeAttribute name=\"\(name)\"><attribute name=\"in\(name)\" attributeType=\"String\"/></compositeAttribute>"
            }
            let model = try ManagedObjectModel(
                contents:
                    "<model><entity name=\"A\">\(attributes)</entity>\(bodies.joined())</model>", name: "model")
            return model.entities[0].attributes.map { $0.elements.map(\.name) }
        }
        let plain = "<attribute name=\"size\" attributeType=\"Composite\"/>"
        #expect(try elements(plain, "Size", "Other") == [["inSize"]])
        #expect(try elements(plain, "Other") == [["inOther"]])
        #expect(try elements(plain, "One", "Two") == [[]])
        let named = "<attribute name=\"size\" attributeType=\"Composite\" compositeName=\"Two\"/>"
        #expect(try elements(named, "Size", "Two") == [["inTwo"]])
        // A definition that contains itself ends.
        let model = try ManagedObjectModel(
            contents:
                "<model><entity name=\"A\">\(plain)</entity><compositeAttribute name=\"Size\"><attribute name=\"size\" attributeType=\"Composite\"/></compositeAttribute></model>",
            name: "model")
        #expect(model.entities[0].attributes[0].elements.count == 1)
    }
}
