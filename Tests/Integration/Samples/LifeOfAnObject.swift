import FaultlineStore

struct Reversed: Error {}

var book: ManagedObject { fatalError() }
var author: ManagedObject { fatalError() }
