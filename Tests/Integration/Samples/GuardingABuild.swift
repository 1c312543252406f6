import FaultlineModel
import FaultlineStore
import Foundation

var url: URL { fatalError() }
var model: ManagedObjectModel { fatalError() }

func fill(_ container: PersistentContainer) throws {}
func showList(_ container: PersistentContainer) throws {}
