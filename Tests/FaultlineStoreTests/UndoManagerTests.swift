import FaultlineStore
import Testing

@Suite("The undo manager undoes and redoes groups of changes")
struct UndoManagerTests {
    /// A number whose changes can be undone.
    private final class Counter {
        let manager = UndoManager()
        private(set) var value = 0
        var history: [Int] = []

        func set(_ new: Int) {
            let old = value
            manager.registerUndo(withTarget: self) { $0.set(old) }
            value = new
            history.append(new)
        }
    }

    @Test("A group is undone in reverse order, and redone")
    func groups() {
        let counter = Counter()
        let manager = counter.manager
        #expect(!manager.canUndo && !manager.canRedo && manager.isUndoRegistrationEnabled)
        counter.set(1)
        counter.set(2)
        #expect(manager.groupingLevel == 1 && manager.canUndo)
        manager.endEvent()
        #expect(manager.groupingLevel == 0)
        counter.set(3)
        manager.undo()
        #expect(counter.value == 2 && manager.canUndo && manager.canRedo)
        counter.history = []
        manager.undo()
        #expect(counter.history == [1, 0] && !manager.canUndo)
        manager.undo()
        #expect(counter.value == 0)
        manager.redo()
        #expect(counter.value == 2)
        manager.redo()
        #expect(counter.value == 3 && !manager.canRedo)
        manager.redo()
        manager.undo()
        #expect(counter.value == 2)
        counter.set(9)
        #expect(!manager.canRedo, "what could be redone is forgotten")
        manager.undo()
        #expect(counter.value == 2)
    }

    @Test("Nested groups are undone together or one by one")
    func nested() {
        let counter = Counter()
        let manager = counter.manager
        manager.groupsByEvent = false
        manager.beginUndoGrouping()
        counter.set(1)
        manager.beginUndoGrouping()
        counter.set(2)
        manager.beginUndoGrouping()
        manager.endUndoGrouping()
        manager.endUndoGrouping()
        #expect(manager.groupingLevel == 1)
        counter.set(3)
        manager.undoNestedGroup()
        #expect(counter.value == 3, "something came after it")
        manager.endUndoGrouping()
        manager.undo()
        #expect(counter.value == 0)
        manager.redo()
        #expect(counter.value == 3)
        manager.beginUndoGrouping()
        manager.beginUndoGrouping()
        counter.set(4)
        manager.endUndoGrouping()
        manager.undoNestedGroup()
        #expect(counter.value == 3 && manager.groupingLevel == 1)
        manager.endUndoGrouping()
        manager.undo()
        #expect(counter.value == 0)
    }

    @Test("Action names belong to their groups")
    func names() {
        let counter = Counter()
        let manager = counter.manager
        #expect(manager.undoMenuItemTitle == "Undo" && manager.redoMenuItemTitle == "Redo")
        counter.set(1)
        manager.setActionName("Count")
        manager.endEvent()
        counter.set(2)
        manager.endEvent()
        manager.setActionName("Count Again")
        #expect(manager.undoActionName == "Count Again" && manager.undoMenuItemTitle == "Undo Count Again")
        manager.undo()
        #expect(manager.undoActionName == "Count" && manager.redoMenuItemTitle == "Redo Count Again")
        manager.redo()
        #expect(manager.undoActionName == "Count Again" && manager.redoActionName == "")
    }

    @Test("levelsOfUndo limits the number of groups")
    func levels() {
        let counter = Counter()
        let manager = counter.manager
        for value in 1...5 {
            counter.set(value)
            manager.endEvent()
        }
        manager.levelsOfUndo = 3
        while manager.canUndo { manager.undo() }
        #expect(counter.value == 2)
        while manager.canRedo { manager.redo() }
        #expect(counter.value == 5)
        counter.set(6)
        manager.endEvent()
        while manager.canUndo { manager.undo() }
        #expect(counter.value == 3)
    }

    @Test("Nothing is registered while registration is disabled, and removed actions are not undone")
    func forgetting() {
        let counter = Counter()
        let manager = counter.manager
        manager.disableUndoRegistration()
        manager.disableUndoRegistration()
        manager.enableUndoRegistration()
        counter.set(1)
        #expect(!manager.canUndo && !manager.isUndoRegistrationEnabled)
        manager.enableUndoRegistration()
        counter.set(2)
        do {
            let other = Counter()
            manager.registerUndo(withTarget: other) { $0.set(7) }
        }
        manager.removeAllActions(withTarget: manager)
        manager.undo()
        #expect(counter.value == 1, "a target that is gone is passed over")
        counter.set(3)
        manager.removeAllActions(withTarget: counter)
        manager.undo()
        #expect(counter.value == 3)
        counter.set(4)
        manager.removeAllActions()
        #expect(!manager.canUndo && manager.groupingLevel == 0)
    }

    @Test("Mismatched groups end the program")
    func mistakes() async {
        await #expect(processExitsWith: .failure) { UndoManager().endUndoGrouping() }
        await #expect(processExitsWith: .failure) { UndoManager().enableUndoRegistration() }
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.groupsByEvent = false
            manager.registerUndo(withTarget: manager) { _ in }
        }
        await #expect(processExitsWith: .failure) {
            let manager = UndoManager()
            manager.beginUndoGrouping()
            manager.undo()
        }
    }
}
