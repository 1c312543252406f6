import FaultlineModel

var v1: ManagedObjectModel { fatalError() }
var v2: ManagedObjectModel { fatalError() }
var v3: ManagedObjectModel { fatalError() }
