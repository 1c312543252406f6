import FaultlineModel

var newModel: ManagedObjectModel { fatalError() }
