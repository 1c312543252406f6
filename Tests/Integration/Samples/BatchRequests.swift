import Foundation

var lastYear: Date { fatalError() }
nonisolated(unsafe) var lines = ["Apples", "Milk"].makeIterator()
