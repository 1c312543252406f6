import FaultlineModel
import FaultlineStore
import Foundation
import Testing

@Suite("Changes to objects can be undone and redone")
struct UndoTests {
    /// A model with every kind of relationship, among nodes and between nodes and leaves.
    private static let entities = [
        EntityDescription(
            "Node",
            attributes: [
                AttributeDescription("uid", .integer64, defaultValue: 0), AttributeDescription("name", .string),
                AttributeDescription("rank", .double), AttributeDescription("mood", .integer64, isTransient: true),
                AttributeDescription("photo", .binary, allowsExternalBinaryDataStorage: true),
            ],
            relationships: [
                RelationshipDescription("parent", to: "Node", inverse: "children"),
                RelationshipDescription(
                    "children", to: "Node", inverse: "parent", isToMany: true, deleteRule: .cascade),
                RelationshipDescription("friends", to: "Node", inverse: "admirers", isToMany: true),
                RelationshipDescription("admirers", to: "Node", inverse: "friends", isToMany: true),
                RelationshipDescription("partner", to: "Node", inverse: "partner"),
                RelationshipDescription("leaves", to: "Leaf", inverse: "node", isToMany: true, isOrdered: true),
            ]),
        EntityDescription(
            "Leaf", attributes: [AttributeDescription("uid", .integer64, defaultValue: 0)],
            relationships: [
                RelationshipDescription("node", to: "Node", inverse: "leaves"),
                RelationshipDescription("marks", to: "Mark", inverse: "leaves", isToMany: true, isOrdered: true),
            ]),
        EntityDescription(
            "Mark", attributes: [AttributeDescription("uid", .integer64, defaultValue: 0)],
            relationships: [RelationshipDescription("leaves", to: "Leaf", inverse: "marks", isToMany: true)]),
    ]

    private func makeStore() throws -> TestStore {
        try TestStore(Self.entities, classes: []) { $0.externalStorageThreshold = 8 }
    }

    private static func uid(_ object: ManagedObject?) -> String { object.map { "\($0["uid"] ?? "")" } ?? "-" }

    /// Describes an object's values, referring to objects by number.
    private static func text(_ object: ManagedObject, withTransients: Bool) -> String {
        func many(_ name: String) -> String {
            if let members = object[name] as? OrderedToMany<ManagedObject> {
                return members.map { uid($0) }.joined(separator: ">")
            }
            return (object[name] as? ToMany<ManagedObject>)?.map { uid($0) }.sorted().joined(separator: ",") ?? "?"
        }
        switch object.entityName {
        case "Node":
            let values = ["name", "rank", "photo"].map { object[$0].map { "\($0)" } ?? "-" }
            let mood = withTransients ? object["mood"].map { "\($0)" } ?? "-" : ""
            let ends = ["parent", "partner"].map { uid(object[$0] as? ManagedObject) }
            let members = ["children", "friends", "admirers", "leaves"].map(many)
            return "Node \(values) \(mood) \(ends) \(members)"
        case "Leaf": return "Leaf \(uid(object["node"] as? ManagedObject)) \(many("marks"))"
        default: return "Mark \(many("leaves"))"
        }
    }

    private static func snapshot(_ objects: [ManagedObject], withTransients: Bool = true) -> [String: String] {
        var snapshot: [String: String] = [:]
        for object in objects { snapshot[uid(object)] = text(object, withTransients: withTransients) }
        return snapshot
    }

    /// Returns the objects of a context that are not deleted.
    private static func live(_ context: ManagedObjectContext) -> [ManagedObject] {
        context.registeredObjects.filter { !$0.isDeleted }
    }

    /// Returns what a new context reads from the store.
    private static func stored(_ store: TestStore) throws -> [String: String] {
        let context = try store.foreignContext([])
        let objects = try ["Node", "Leaf", "Mark"].flatMap {
            try context.fetch(FetchRequest<ManagedObject>(entityName: $0)).map { $0 }
        }
        return snapshot(objects, withTransients: false)
    }

    /// Makes random edits and holds all objects.
    private final class Editor {
        let context: ManagedObjectContext
        var random: SplitMix
        var held: [ManagedObject] = []
        var last = 0

        init(_ context: ManagedObjectContext, seed: UInt64) {
            self.context = context
            random = SplitMix(state: seed)
        }

        func pick(_ entity: String) -> ManagedObject? {
            live.filter { $0.entityName == entity }.randomElement(using: &random)
        }

        var live: [ManagedObject] {
            let registered = Set(context.registeredObjects)
            return held.filter { !$0.isDeleted && registered.contains($0) }
        }

        func make(_ entity: String) {
            let object = context.insertNewObject(forEntityName: entity)
            last += 1
            object["uid"] = last
            held.append(object)
        }

        func edit() {
            let node = pick("Node")
            switch random.next(14) {
            case 0: make("Node")
            case 1: make(["Leaf", "Mark"][random.next(2)])
            case 2: node?["name"] = ["a", "b", nil][random.next(3)]
            case 3: node?["rank"] = [1.5, nil][random.next(2)]
            case 4: node?["mood"] = random.next(3)
            case 5:
                node?["photo"] = [Data(repeating: UInt8(random.next(3)), count: random.next(20)), nil][random.next(2)]
            case 6: node?["parent"] = random.next(4) == 0 ? nil : pick("Node")
            case 7: node?["partner"] = random.next(4) == 0 ? nil : pick("Node")
            case 8, 9:
                guard let friends = node?["friends"] as? ToMany<ManagedObject>, let other = pick("Node") else { return }
                // With and without reading them first.
                if random.next(2) == 0 { _ = friends.count }
                if random.next(2) == 0 { friends.add(other) } else { friends.remove(other) }
            case 10: pick("Leaf")?["node"] = random.next(4) == 0 ? nil : node
            case 11:
                guard let leaves = node?["leaves"] as? OrderedToMany<ManagedObject>, !leaves.isEmpty else { return }
                leaves.move(from: random.next(leaves.count), to: random.next(leaves.count))
            case 12:
                guard let leaf = pick("Leaf"), let marks = leaf["marks"] as? OrderedToMany<ManagedObject> else {
                    return
                }
                switch random.next(3) {
                case 0: if let mark = pick("Mark") { marks.add(mark) }
                case 1: if !marks.isEmpty { marks.remove(at: random.next(marks.count)) }
                default: leaf["marks"] = Array(marks).shuffled(using: &random)
                }
            default:
                if let doomed = pick(["Node", "Leaf", "Mark"][random.next(3)]), random.next(2) == 0 {
                    context.delete(doomed)
                }
            }
        }
    }

    @Test(
        "After random edits, undoing all restores the start, and redoing all restores the end",
        arguments: [(false, 1), (false, 2), (false, 3), (true, 4), (true, 5), (true, 6)])
    func random(_ saves: Bool, _ seed: UInt64) throws {
        let store = try makeStore()
        let context = store.context
        let editor = Editor(context, seed: seed)
        for entity in ["Node", "Node", "Node", "Leaf", "Leaf", "Leaf", "Mark", "Mark"] { editor.make(entity) }
        for _ in 0..<30 { editor.edit() }
        try context.save()
        // Starts with faults, so that the edits also change objects that were not read.
        context.refreshAllObjects()
        let manager = UndoManager()
        context.undoManager = manager

        let start = Self.snapshot(Self.live(context))
        context.refreshAllObjects()
        for _ in 0..<80 {
            for _ in 0...editor.random.next(3) { editor.edit() }
            manager.endEvent()
            if saves, editor.random.next(5) == 0 { try context.save() }
        }
        let end = Self.snapshot(Self.live(context))
        #expect(start != end)

        for round in 0..<2 {
            while manager.canUndo { context.undo() }
            #expect(Self.snapshot(Self.live(context)) == start, "round \(round)")
            if !saves { #expect(!context.hasChanges, "\(context.updatedObjects.map { $0.changedValues() })") }
            while manager.canRedo { context.redo() }
            #expect(Self.snapshot(Self.live(context)) == end, "round \(round)")
        }
        try context.save()
        #expect(try Self.stored(store) == Self.snapshot(Self.live(context), withTransients: false))
        while manager.canUndo { context.undo() }
        #expect(Self.snapshot(Self.live(context)) == start)
        try context.save()
        #expect(try Self.stored(store) == Self.snapshot(Self.live(context), withTransients: false))
    }

    @Test("Each undo restores the state before its step")
    func steps() throws {
        let store = try makeStore()
        let context = store.context
        context.undoManager = UndoManager()
        let editor = Editor(context, seed: 7)
        var states = [Self.snapshot(Self.live(context))]
        for _ in 0..<120 {
            editor.edit()
            context.undoManager?.endEvent()
            let state = Self.snapshot(Self.live(context))
            if state != states.last { states.append(state) }
        }
        var seen = [Self.snapshot(Self.live(context))]
        while context.undoManager?.canUndo == true {
            context.undo()
            let state = Self.snapshot(Self.live(context))
            if state != seen.last { seen.append(state) }
        }
        #expect(seen == states.reversed())
        #expect(states.count > 60)
    }

    @Test("Objects are notified of undone changes, and count as unchanged where they are as before")
    func events() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        let context = store.context
        context.undoManager = UndoManager()
        note.text = "x"
        context.undo()
        #expect(note.text == "one two" && !note.hasChanges && !context.hasChanges)
        #expect(note.take() == ["awakeFromFetch", "awake(8)"])
        context.redo()
        #expect(note.text == "x" && note.take() == ["awake(8)"])
        context.undo()
        let new = Note(context: context)
        context.undo()
        #expect(!context.hasChanges && new.take() == ["awakeFromInsert", "awake(10)"])
        context.redo()
        #expect(new.isInserted && new.text == "new" && context.insertedObjects == [new])
        context.undo()
        _ = note.take()
        context.delete(note)
        context.undo()
        #expect(note.take() == ["prepareForDeletion", "awake(4)"])
        #expect(!note.isDeleted && note.folder?.notes.count == 1)
    }

    @Test("Undoing a saved deletion inserts the object again")
    func savedDeletion() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        let folder = try #require(note.folder)
        store.context.undoManager = UndoManager()
        store.context.delete(note)
        store.context.delete(folder)
        try store.context.save()
        #expect(try store.sql("SELECT COUNT(*) FROM ZNOTE") == ["0"])
        store.context.undo()
        #expect(note.isInserted && note.objectID.isTemporaryID && note.text == "one two" && note.folder === folder)
        try store.context.save()
        #expect(try store.sql("SELECT Z_PK, ZTEXT, ZFOLDER FROM ZNOTE") == ["2|one two|2"])
        store.context.redo()
        try store.context.save()
        #expect(try store.sql("SELECT (SELECT COUNT(*) FROM ZNOTE), (SELECT COUNT(*) FROM ZFOLDER)") == ["0|0"])
    }

    @Test("An insertion undone before a save can be redone after it")
    func redoneAfterSave() throws {
        let store = try Notes.makeStore()
        let context = store.context
        context.undoManager = UndoManager()
        let note = Note(context: context)
        note.text = "first"
        context.undo()
        // There is nothing to write, because the inserted object is deleted again.
        try context.save()
        context.redo()
        #expect(note.isInserted && context.insertedObjects == [note] && note.text == "first")
        #expect(context.registeredObjects == [note])
        note.text = "second"
        try context.save()
        #expect(try store.sql("SELECT ZTEXT FROM ZNOTE") == ["second"])
    }

    @Test("The end of perform ends an undo group, and other registered actions are undone in order")
    func grouping() throws {
        final class Log { var lines: [String] = [] }
        let store = try Notes.makeStore()
        let context = store.context
        let manager = UndoManager()
        context.undoManager = manager
        let note = context.performAndWait { Notes.insert(context) }
        #expect(manager.groupingLevel == 0 && manager.canUndo)
        let log = Log()
        context.performAndWait {
            note.count = 1
            manager.registerUndo(withTarget: log) { log in log.lines.append("count \(note.count)") }
            note.count = 2
        }
        manager.setActionName("Count")
        context.undo()
        #expect(log.lines == ["count 1"] && note.count == 0 && manager.redoActionName == "Count")
        context.undo()
        #expect(!context.hasChanges && !manager.canUndo)
    }

    @Test("A rollback or reset clears the undo manager, and undo without a manager does nothing")
    func forgetting() throws {
        let store = try Notes.makeStore()
        let context = store.context
        context.undo()
        context.redo()
        #expect(context.undoManager == nil)
        let manager = UndoManager()
        context.undoManager = manager
        _ = Note(context: context)
        context.rollback()
        #expect(!manager.canUndo)
        _ = Note(context: context)
        context.reset()
        #expect(!manager.canUndo)
    }

    @Test("Primitive values and values set by awakeFromFetch are not undone")
    func quietChanges() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        store.context.undoManager = UndoManager()
        _ = note.text
        note.setPrimitiveValue("quiet", forKey: "text")
        #expect(store.context.undoManager?.canUndo == false)
        note.willChangeValue(forKey: "text")
        note.setPrimitiveValue("loud", forKey: "text")
        note.didChangeValue(forKey: "text")
        store.context.undo()
        #expect(note.text == "quiet")
    }
}

extension Notes {
    /// Inserts a note and hands it out of its context's queue, to a test that uses nothing else meanwhile.
    static func insert(_ context: ManagedObjectContext) -> UnsafeNote { UnsafeNote(note: Note(context: context)) }

    @dynamicMemberLookup
    struct UnsafeNote: @unchecked Sendable {
        // A test uses it on one thread at a time.
        let note: Note

        subscript<Value>(dynamicMember path: ReferenceWritableKeyPath<Note, Value>) -> Value {
            get { note[keyPath: path] }
            nonmutating set { note[keyPath: path] = newValue }
        }
    }
}
