import FaultlineStore
import Foundation

struct Table {
    func insert(_ id: ManagedObjectID, at path: IndexPath) {}
}

var table: Table { fatalError() }
var request: FetchRequest<Item> { fatalError() }
