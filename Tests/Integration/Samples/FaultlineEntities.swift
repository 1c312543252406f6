import FaultlineEntities
import Foundation

var url: URL { fatalError() }
var context: ManagedObjectContext { fatalError() }
