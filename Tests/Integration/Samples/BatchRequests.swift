import FaultlineStore
import Foundation

var lastYear: Date { fatalError() }
var austen: ManagedObject { fatalError() }
nonisolated(unsafe) var lines = ["Apples", "Milk"].makeIterator()
