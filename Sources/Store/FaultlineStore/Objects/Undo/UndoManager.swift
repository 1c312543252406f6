/// Records how to undo and redo changes.
///
/// Registered changes belong to a group, and ``undo()`` undoes a whole group. Assign a manager to
/// ``ManagedObjectContext/undoManager``, and every change of the context's objects can be undone; a program registers
/// its own changes with ``registerUndo(withTarget:handler:)``. A manager is used on one thread, or on the queue of its
/// context. Replaces Foundation's class of the same name, which Linux does not have.
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
    /// Whether a registration opened the outermost group, which then closes when the event ends.
    private var hasEventGroup = false
    private var undoStack: [Group] = []
    private var redoStack: [Group] = []
    private var state = State.normal
    private var disabled = 0
    /// The closures to run after the current undo or redo.
    private var endings: [() -> Void] = []

    /// Whether a registration outside of any group opens one automatically.
    ///
    /// Default: yes. Such a group closes when the event ends: at the end of the context's `perform` or
    /// `performAndWait`, with ``endEvent()``, or with ``undo()``. If `false`, registering outside of a group traps.
    public var groupsByEvent = true

    /// The maximum number of groups that can be undone; the oldest are discarded first.
    ///
    /// Default: 0, no limit.
    public var levelsOfUndo = 0 {
        didSet { trim() }
    }

    /// Creates a manager without actions.
    public init() {}

    // MARK: - Groups

    /// The number of open groups.
    public var groupingLevel: Int { open.count }

    /// Opens a group, nested in the open one if there is one.
    public func beginUndoGrouping() {
        if open.isEmpty, groupsByEvent, state == .normal { openEventGroup() }
        open.append(Group())
    }

    /// Closes the innermost group.
    ///
    /// Traps if none is open.
    public func endUndoGrouping() {
        guard let group = open.popLast() else {
            incorrectUse("endUndoGrouping was called with no group open; call beginUndoGrouping first.")
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

    /// Closes the group that the event's first registration opened.
    ///
    /// Does nothing while a group that the program opened is still open inside it.
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

    /// Whether changes are registered; see ``disableUndoRegistration()``.
    public var isUndoRegistrationEnabled: Bool { disabled == 0 }

    /// Ignores registrations until ``enableUndoRegistration()`` has been called equally often.
    public func disableUndoRegistration() {
        disabled += 1
    }

    /// Reverts one call of ``disableUndoRegistration()``.
    ///
    /// Traps if there was none.
    public func enableUndoRegistration() {
        requireCorrectUse(disabled > 0, "enableUndoRegistration was called more often than disableUndoRegistration.")
        disabled -= 1
    }

    /// Registers how to undo a change.
    ///
    /// Changes that the handler registers in turn redo the change. Clears the redo stack. The target is not retained;
    /// if it no longer exists, the handler is not called.
    public func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
        guard isUndoRegistrationEnabled else { return }
        if open.isEmpty {
            requireCorrectUse(
                groupsByEvent, "registerUndo was called with no group open; call beginUndoGrouping first.")
            openEventGroup()
        }
        if state == .normal { redoStack = [] }
        open[open.count - 1].items.append(
            .action(Action(target: target) { target in handler(unsafeDowncast(target, to: Target.self)) }))
    }

    /// Discards all registrations, and closes all groups.
    public func removeAllActions() {
        (open, undoStack, redoStack, hasEventGroup) = ([], [], [], false)
    }

    /// Discards the registrations for a target.
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

    /// Whether there is a group to undo.
    public var canUndo: Bool { !undoStack.isEmpty || open.contains { !$0.items.isEmpty } }

    /// Whether there is a group to redo.
    public var canRedo: Bool { !redoStack.isEmpty }

    /// Whether a group is being undone.
    public var isUndoing: Bool { state == .undoing }

    /// Whether a group is being redone.
    public var isRedoing: Bool { state == .redoing }

    /// Closes the open group, if it is the only one, and undoes the last group; does nothing if there is none.
    ///
    /// Traps if more than one group is open.
    public func undo() {
        if open.count == 1 { endUndoGrouping() }
        requireCorrectUse(
            open.isEmpty, "undo was called with \(open.count) groups open; call endUndoGrouping first.")
        undoNestedGroup()
    }

    /// Undoes the last group, even if it is nested in one that is still open.
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

    /// Redoes the group that was undone last; does nothing if there is none, or if something was registered since.
    ///
    /// Traps if a group is open.
    public func redo() {
        if hasEventGroup { endEvent() }
        requireCorrectUse(
            open.isEmpty, "redo was called with \(open.count) groups open; call endUndoGrouping first.")
        guard state == .normal, let group = redoStack.popLast() else { return }
        perform(group, as: .redoing)
    }

    private func perform(_ group: Group, as state: State) {
        self.state = state
        // All registrations by the actions form one group.
        open = [Group(name: group.name)]
        run(group)
        endUndoGrouping()
        self.state = .normal
        let endings = endings
        self.endings = []
        for ending in endings { ending() }
    }

    /// Runs a closure after the current undo or redo.
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

    /// Names the open group, or the last one if none is open, after its action: `"Move"`.
    public func setActionName(_ name: String) {
        if !open.isEmpty {
            open[open.count - 1].name = name
        } else if !undoStack.isEmpty {
            undoStack[undoStack.count - 1].name = name
        }
    }

    /// The name of the action that ``undo()`` would undo; empty if there is none or it has no name.
    public var undoActionName: String { open.last.map(\.name) ?? undoStack.last?.name ?? "" }

    /// The name of the action that ``redo()`` would redo; empty if there is none or it has no name.
    public var redoActionName: String { redoStack.last?.name ?? "" }

    /// `"Undo"`, followed by the name of the action.
    public var undoMenuItemTitle: String { undoActionName.isEmpty ? "Undo" : "Undo \(undoActionName)" }

    /// `"Redo"`, followed by the name of the action.
    public var redoMenuItemTitle: String { redoActionName.isEmpty ? "Redo" : "Redo \(redoActionName)" }
}

// A manager belongs to a thread, or to the queue of its context.
@available(*, unavailable)
extension UndoManager: Sendable {}
