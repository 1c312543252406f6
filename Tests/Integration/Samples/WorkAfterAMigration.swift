import FaultlineStore

var coordinator: PersistentStoreCoordinator { fatalError() }
var hasTime: Bool { true }
func initials(of name: String) -> String { "" }
