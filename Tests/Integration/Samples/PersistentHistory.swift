import FaultlineStore
import Foundation

nonisolated(unsafe) var lastToken: PersistentHistoryToken?
var weekAgo: Date { fatalError() }
