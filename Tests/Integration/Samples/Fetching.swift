import FaultlineStore

final class Feedback: ManagedObject {}

var author: Author { fatalError() }
var faults: [Item] { fatalError() }
