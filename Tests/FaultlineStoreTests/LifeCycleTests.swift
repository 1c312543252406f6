import FaultlineModel
import FaultlineStore
import Foundation
import Testing

/// Notes the order in which its methods are called, and runs a test's closures in them.
final class Note: ManagedObject {
    static let text = AttributeKey<String?>("text")
    static let count = AttributeKey<Int>("count")
    static let words = AttributeKey<Int>("words")
    static let folder = ToOneKey<Folder>("folder")

    var text: String? {
        get { self[Self.text] }
        set { self[Self.text] = newValue }
    }
    var count: Int {
        get { self[Self.count] }
        set { self[Self.count] = newValue }
    }
    /// A transient property, computed from the text.
    var words: Int {
        get { self[Self.words] }
        set { self[Self.words] = newValue }
    }
    var folder: Folder? {
        get { self[Self.folder] }
        set { self[Self.folder] = newValue }
    }

    var calls: [String] = []
    var onAwake: (Note) -> Void = { _ in }
    var onWillSave: (Note) -> Void = { _ in }
    var onDidSave: (Note) -> Void = { _ in }
    var onDeletion: (Note) -> Void = { _ in }

    override func awakeFromInsert() {
        calls.append("awakeFromInsert")
        text = "new"
    }

    override func awakeFromFetch() {
        calls.append("awakeFromFetch")
        words = text?.split(separator: " ").count ?? 0
        onAwake(self)
    }

    override func awake(fromSnapshotEvents flags: SnapshotEventType) {
        calls.append("awake(\(flags.rawValue))")
    }

    override func willSave() {
        calls.append("willSave")
        onWillSave(self)
    }

    override func didSave() {
        calls.append("didSave")
        onDidSave(self)
    }

    override func prepareForDeletion() {
        calls.append("prepareForDeletion")
        onDeletion(self)
    }

    override func willTurnIntoFault() { calls.append("willTurnIntoFault \(isFault)") }
    override func didTurnIntoFault() { calls.append("didTurnIntoFault \(isFault)") }

    func take() -> [String] {
        defer { calls = [] }
        return calls
    }
}

/// Overrides nothing.
final class Folder: ManagedObject {
    static let name = AttributeKey<String?>("name")
    static let notes = ToManyKey<Note>("notes")

    var name: String? {
        get { self[Self.name] }
        set { self[Self.name] = newValue }
    }
    var notes: ToMany<Note> { self[Self.notes] }
}

enum Notes {
    static func makeStore(isRecording: Bool = false) throws -> TestStore {
        try TestStore(
            [
                EntityDescription(
                    "Note",
                    attributes: [
                        AttributeDescription("text", .string),
                        AttributeDescription("count", .integer64, defaultValue: 0),
                        AttributeDescription("words", .integer64, isTransient: true),
                    ], relationships: [RelationshipDescription("folder", to: "Folder", inverse: "notes")]),
                EntityDescription(
                    "Folder", attributes: [AttributeDescription("name", .string)],
                    relationships: [RelationshipDescription("notes", to: "Note", inverse: "folder", isToMany: true)]),
            ], classes: [Note.self, Folder.self], isRecording: isRecording)
    }

    /// Saves a note and returns it as another context has it: as a fault.
    static func makeNote(in store: TestStore, text: String = "one two") throws -> Note {
        let maker = store.container.newBackgroundContext()
        let note = Note(context: maker)
        note.text = text
        note.folder = Folder(context: maker)
        try maker.save()
        return try #require(store.context.object(with: note.objectID) as? Note)
    }
}

@Suite("Objects are notified of their life cycle")
struct LifeCycleTests {
    @Test("Insertion, saves, refreshes and deletion call each method at the right time")
    func wholeLife() throws {
        let store = try Notes.makeStore()
        let note = Note(context: store.context)
        #expect(note.take() == ["awakeFromInsert"])
        #expect(note.text == "new")
        try store.context.save()
        #expect(note.take() == ["willSave", "didSave"])
        note.count = 1
        #expect(note.take().isEmpty)
        try store.context.save()
        #expect(note.take() == ["willSave", "didSave"])
        try store.context.save()
        #expect(note.take().isEmpty, "nothing was changed")
        store.context.refresh(note, mergeChanges: false)
        #expect(note.take() == ["willTurnIntoFault false", "didTurnIntoFault true"])
        store.context.refresh(note, mergeChanges: false)
        #expect(note.take().isEmpty, "it is a fault already")
        #expect(note.count == 1)
        #expect(note.take() == ["awakeFromFetch"])
        note.count = 2
        store.context.refresh(note, mergeChanges: true)
        #expect(note.take() == ["willTurnIntoFault false", "didTurnIntoFault true", "awake(32)"])
        #expect(note.count == 2)
        store.context.rollback()
        #expect(note.take() == ["awakeFromFetch", "awake(16)"])
        store.context.delete(note)
        store.context.delete(note)
        #expect(note.take() == ["prepareForDeletion"])
        try store.context.save()
        #expect(note.take() == ["willSave", "didSave"])
    }

    @Test("A reset calls the faulting methods only on objects that are not faults")
    func reset() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        let other = try Notes.makeNote(in: store)
        #expect(note.text == "one two")
        _ = note.take()
        store.context.reset()
        #expect(note.take() == ["willTurnIntoFault false", "didTurnIntoFault false"])
        #expect(other.take().isEmpty)
    }

    @Test("A value that awakeFromFetch sets is kept and is not a change")
    func awakeFromFetch() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        note.onAwake = { $0.count = 42 }
        #expect(note.words == 2)
        #expect(note.count == 42)
        #expect(!note.hasChanges && !store.context.hasChanges)
        // It is saved with the next change that counts.
        note.text = "three"
        #expect(note.isUpdated)
        try store.context.save()
        #expect(try store.sql("SELECT ZCOUNT, ZTEXT FROM ZNOTE") == ["42|three"])
    }

    @Test("A relationship that awakeFromFetch sets is a change, because its inverse changes too")
    func awakeFromFetchRelationship() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        note.onAwake = { $0.folder = nil }
        _ = note.text
        #expect(note.hasChanges)
        try store.context.save()
        #expect(try store.sql("SELECT ZFOLDER FROM ZNOTE") == ["NULL"])
    }

    @Test("awakeFromFetch is called when a fetched object is read, but not if its row is gone")
    func awakeWhenRead() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        do {
            let fetched = try store.context.fetch(FetchRequest<Note>())
            #expect(fetched[0] === note && note.take().isEmpty)
            #expect(note.words == 2 && note.take() == ["awakeFromFetch"])
        }
        _ = try store.sql("DELETE FROM ZNOTE")
        store.context.refresh(note, mergeChanges: false)
        store.container.persistentStoreCoordinator.removeUnusedRows()
        _ = note.take()
        #expect(note.text == nil && note.isInaccessible)
        #expect(note.take().isEmpty)
    }

    @Test("willSave is called again until nothing changes")
    func willSaveAgain() throws {
        let store = try Notes.makeStore()
        let note = Note(context: store.context)
        let other = Note(context: store.context)
        // Each round adds 1, up to 3. Setting a value that is already there is no change.
        note.onWillSave = { $0.count = min($0.count + 1, 3) }
        other.onWillSave = { _ in note.text = "set by the other" }
        (note.calls, other.calls) = ([], [])
        try store.context.save()
        #expect(note.take() == ["willSave", "willSave", "willSave", "willSave", "didSave"])
        #expect(other.take() == ["willSave", "didSave"])
        #expect(try store.sql("SELECT ZCOUNT, ZTEXT FROM ZNOTE ORDER BY Z_PK") == ["3|set by the other", "0|new"])
    }

    @Test("Objects that willSave inserts, changes or deletes are saved too, and get the same calls")
    func willSaveSpreads() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        let doomed = try Notes.makeNote(in: store, text: "doomed")
        nonisolated(unsafe) var made: Note?
        note.onWillSave = { note in
            guard made == nil, let context = Optional(note.managedObjectContext) else { return }
            made = Note(context: context)
            made?.count = 7
            context.delete(doomed)
        }
        note.count = 1
        try store.context.save()
        #expect(made?.take() == ["awakeFromInsert", "willSave", "didSave"])
        #expect(doomed.take() == ["awakeFromFetch", "prepareForDeletion", "willSave", "didSave"])
        #expect(try store.sql("SELECT ZCOUNT FROM ZNOTE ORDER BY Z_PK") == ["1", "7"])
    }

    @Test("A willSave that never stops changing objects makes the save fail without saving anything")
    func willSaveForever() throws {
        let store = try Notes.makeStore()
        let note = Note(context: store.context)
        note.onWillSave = { $0.count += 1 }
        #expect(
            performing { try store.context.save() }
                == "Saving Note \(note.objectID): willSave still changes objects after 1000 rounds; set a property there only if its value differs."
        )
        #expect(try store.sql("SELECT COUNT(*) FROM ZNOTE") == ["0"])
        note.onWillSave = { _ in }
        try store.context.save()
        #expect(try store.sql("SELECT COUNT(*) FROM ZNOTE") == ["1"])
    }

    @Test("Changes made by didSave are left for the next save")
    func didSaveChanges() throws {
        let store = try Notes.makeStore()
        let note = Note(context: store.context)
        note.onDidSave = { $0.count += 1 }
        try store.context.save()
        #expect(note.hasChanges && store.context.hasChanges)
        #expect(try store.sql("SELECT ZCOUNT FROM ZNOTE") == ["0"])
        note.onDidSave = { _ in }
        try store.context.save()
        #expect(try store.sql("SELECT ZCOUNT FROM ZNOTE") == ["1"])
    }

    @Test("A failed save does not call didSave")
    func failedSave() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        note.text = "mine"
        _ = try store.sql("UPDATE ZNOTE SET Z_OPT = 9")
        _ = note.take()
        #expect(throws: StoreError.self) { try store.context.save() }
        #expect(note.take() == ["willSave"])
    }

    @Test("awake is called on an object that a merge policy changed")
    func mergePolicy() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        store.context.mergePolicy = .mergeByPropertyObjectTrump
        note.text = "mine"
        _ = note.take()
        _ = try store.sql("UPDATE ZNOTE SET Z_OPT = 9, ZCOUNT = 4")
        try store.context.save()
        #expect(note.take().contains("awake(64)"))
        #expect(note.text == "mine" && note.count == 4)
    }

    @Test("prepareForDeletion sees the relationships intact, and may delete objects that delete this one")
    func deletion() throws {
        let store = try Notes.makeStore()
        let note = try Notes.makeNote(in: store)
        let folder = try #require(note.folder)
        let other = Note(context: store.context)
        other.folder = folder
        nonisolated(unsafe) var seen: [Int] = []
        note.onDeletion = { note in
            seen.append(note.folder?.notes.count ?? 0)
            note.managedObjectContext.delete(other)
        }
        other.onDeletion = { other in
            seen.append(other.folder?.notes.count ?? 0)
            other.managedObjectContext.delete(note)
        }
        store.context.delete(note)
        #expect(seen == [2, 2])
        #expect(note.isDeleted && other.isDeleted && folder.notes.isEmpty)
        try store.context.save()
        #expect(try store.sql("SELECT COUNT(*) FROM ZNOTE") == ["0"])
    }

    @Test("A subclass that was not registered with the store gets its calls too")
    func unnamedClass() throws {
        class Plain: ManagedObject {
            override class var entityName: String { "Folder" }
        }
        final class Telling: Plain {
            var calls = 0
            override func willSave() { calls += 1 }
            override func didSave() { calls += 10 }
            override func validateValue(_ value: inout Any?, forKey key: String) throws { calls += 100 }
        }
        let folder = try TestStore(
            [EntityDescription("Folder", attributes: [AttributeDescription("name", .string)])], classes: [Plain.self])
        let decisiveCounts = Telling(context: folder.context)
        try folder.context.save()
        #expect(decisiveCounts.calls == 111)
    }
}
