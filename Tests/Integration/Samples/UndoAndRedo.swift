import FaultlineStore

final class View {
    func select(_ row: Int) {}
}

var manager: UndoManager { fatalError() }
var view: View { fatalError() }
var old: Int { fatalError() }
