/// Remembers how to take changes back, and how to make them again.
///
/// What is registered belongs to a group, and ``undo()`` takes a whole group back. Give one to
/// ``ManagedObjectContext/undoManager`` and every change of the context's objects can be undone; a program registers
/// what else belongs to it with ``registerUndo(withTarget:handler:)``. Used on one thread, or on the queue of its
/// context. Stands for Foundation's class of that name, which Linux does not have.
public final class UndoManager {
    private struct Action {
        weak var target: AnyObject?
        var undo: (AnyObject) -> Void
    }

    private indirect enum Item {
        case action(Action)
        case group(Group)
    }

    private struct Group {
        var items: [Item] = []
        var name = ""
    }

    private enum State {
        case normal, undoing, redoing
    }

    /// Outermost first.
    private var open: [Group] = []
    /// Whether the outermost open group was opened by a registration, to be closed when the event ends.
    private var hasEventGroup = false
    private var undoStack: [Group] = []
    private var redoStack: [Group] = []
    private var state = State.normal
    private var disabled = 0
    /// What is to be done when the group that is being undone or redone is through.
    private var endings: [() -> Void] = []

    /// Whether what is registered outside of any group opens one by itself.
    ///
    /// Default: yes. Such a group ends with the event: at the end of the context's `perform` or `performAndWait`, with
    /// ``endEvent()``, or with ``undo()``. Otherwise registering outside of a group traps.
    public var groupsByEvent = true

    /// How many groups can be undone; the oldest are forgotten first.
    ///
    /// Default: 0, any number.
    public var levelsOfUndo = 0 {
        didSet { trim() }
    }

    public init() {}

    // MARK: - Groups

    /// How many groups are open.
    public var groupingLevel: Int { open.count }

    /// Opens a group, inside the one that is open if there is one.
    public func beginUndoGrouping() {
        if open.isEmpty, groupsByEvent, state == .normal { openEventGroup() }
        open.append(Group())
    }

    /// Closes the group that was opened last.
    ///
    /// Traps if none is open.
    public func endUndoGrouping() {
        guard let group = open.popLast() else {
            incorrectUse("endUndoGrouping was called while no group is open; call beginUndoGrouping first.")
        }
        if open.isEmpty { hasEventGroup = false }
        guard !group.items.isEmpty else { return }
        if open.isEmpty {
            push(group)
        } else {
            if open[open.count - 1].name.isEmpty { open[open.count - 1].name = group.name }
            open[open.count - 1].items.append(.group(group))
        }
    }

    /// Closes the group that the event's first registration has opened.
    ///
    /// Groups that the program has opened and not closed stay open, and that one with them.
    public func endEvent() {
        if hasEventGroup, open.count == 1 { endUndoGrouping() }
    }

    private func openEventGroup() {
        open.append(Group())
        hasEventGroup = true
    }

    private func push(_ group: Group) {
        switch state {
        case .normal, .redoing: undoStack.append(group)
        case .undoing: redoStack.append(group)
        }
        trim()
    }

    private func trim() {
        guard levelsOfUndo > 0 else { return }
        undoStack.removeFirst(max(0, undoStack.count - levelsOfUndo))
        redoStack.removeFirst(max(0, redoStack.count - levelsOfUndo))
    }

    // MARK: - Registering

    /// Whether anything is registered; see ``disableUndoRegistration()``.
    public var isUndoRegistrationEnabled: Bool { disabled == 0 }

    /// Leaves out what is registered from now on, until ``enableUndoRegistration()`` is called as often.
    public func disableUndoRegistration() {
        disabled += 1
    }

    /// Takes one call of ``disableUndoRegistration()`` back.
    ///
    /// Traps if there was none.
    public func enableUndoRegistration() {
        requireCorrectUse(disabled > 0, "enableUndoRegistration was called more often than disableUndoRegistration.")
        disabled -= 1
    }

    /// Registers how to take a change back.
    ///
    /// What the handler registers in its turn is how to make the change again. What could be redone is forgotten. The
    /// target is not kept alive; without it the handler is not called.
    public func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
        guard isUndoRegistrationEnabled else { return }
        if open.isEmpty {
            requireCorrectUse(
                groupsByEvent, "registerUndo was called while no group is open; call beginUndoGrouping first.")
            openEventGroup()
        }
        if state == .normal { redoStack = [] }
        open[open.count - 1].items.append(
            .action(Action(target: target) { target in handler(unsafeDowncast(target, to: Target.self)) }))
    }

    /// Forgets everything, and closes all groups.
    public func removeAllActions() {
        (open, undoStack, redoStack, hasEventGroup) = ([], [], [], false)
    }

    /// Forgets what was registered for a target.
    public func removeAllActions(withTarget target: AnyObject) {
        func strip(_ groups: [Group], keepsEmpty: Bool = false) -> [Group] {
            groups.map { group in
                var group = group
                group.items = group.items.compactMap { item in
                    switch item {
                    case .action(let action): return action.target === target ? nil : item
                    case .group(let inner): return strip([inner]).first.map { .group($0) }
                    }
                }
                return group
            }.filter { keepsEmpty || !$0.items.isEmpty }
        }
        open = strip(open, keepsEmpty: true)
        undoStack = strip(undoStack)
        redoStack = strip(redoStack)
    }

    // MARK: - Undoing

    /// Whether there is a group to take back.
    public var canUndo: Bool { !undoStack.isEmpty || open.contains { !$0.items.isEmpty } }

    /// Whether there is a group to make again.
    public var canRedo: Bool { !redoStack.isEmpty }

    /// Whether a group is being taken back.
    public var isUndoing: Bool { state == .undoing }

    /// Whether a group is being made again.
    public var isRedoing: Bool { state == .redoing }

    /// Closes the open group, if it is the only one, and takes the last one back; does nothing if there is none.
    ///
    /// Traps if more than one is open.
    public func undo() {
        if open.count == 1 { endUndoGrouping() }
        requireCorrectUse(
            open.isEmpty, "undo was called while \(open.count) groups are open; call endUndoGrouping first.")
        undoNestedGroup()
    }

    /// Takes the last group back, which may lie in one that is still open.
    ///
    /// Does nothing if there is none, or if something else was registered after it.
    public func undoNestedGroup() {
        guard state == .normal else { return }
        if let last = open.indices.last {
            guard case .group(let group)? = open[last].items.last else { return }
            open[last].items.removeLast()
            let outer = open
            open = []
            perform(group, as: .undoing)
            open = outer
        } else if let group = undoStack.popLast() {
            perform(group, as: .undoing)
        }
    }

    /// Makes the group again that was taken back last; does nothing if there is none, or if something was registered
    /// since.
    ///
    /// Traps if a group is open.
    public func redo() {
        if hasEventGroup { endEvent() }
        requireCorrectUse(
            open.isEmpty, "redo was called while \(open.count) groups are open; call endUndoGrouping first.")
        guard state == .normal, let group = redoStack.popLast() else { return }
        perform(group, as: .redoing)
    }

    private func perform(_ group: Group, as state: State) {
        self.state = state
        // What the actions register is one group, however many they are.
        open = [Group(name: group.name)]
        run(group)
        endUndoGrouping()
        self.state = .normal
        let endings = endings
        self.endings = []
        for ending in endings { ending() }
    }

    /// Does something once the group that is being undone or redone is through.
    func atEndOfGroup(_ ending: @escaping () -> Void) {
        endings.append(ending)
    }

    private func run(_ group: Group) {
        for item in group.items.reversed() {
            switch item {
            case .action(let action): if let target = action.target { action.undo(target) }
            case .group(let group): run(group)
            }
        }
    }

    // MARK: - Names

    /// Names what the open group does, or the last one if none is open: `"Move"`.
    public func setActionName(_ name: String) {
        if !open.isEmpty {
            open[open.count - 1].name = name
        } else if !undoStack.isEmpty {
            undoStack[undoStack.count - 1].name = name
        }
    }

    /// What ``undo()`` would take back; empty: nothing, or it has no name.
    public var undoActionName: String { open.last.map(\.name) ?? undoStack.last?.name ?? "" }

    /// What ``redo()`` would make again; empty: nothing, or it has no name.
    public var redoActionName: String { redoStack.last?.name ?? "" }

    /// `"Undo"` and the name of what is undone.
    public var undoMenuItemTitle: String { undoActionName.isEmpty ? "Undo" : "Undo \(undoActionName)" }

    /// `"Redo"` and the name of what is made again.
    public var redoMenuItemTitle: String { redoActionName.isEmpty ? "Redo" : "Redo \(redoActionName)" }
}

// A manager belongs to a thread, or to the queue of its context.
@available(*, unavailable)
extension UndoManager: Sendable {}
