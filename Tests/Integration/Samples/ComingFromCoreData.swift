import FaultlineStore

final class Item: ManagedObject {}

var context: ManagedObjectContext { fatalError() }

func show(_ item: Item) {}
