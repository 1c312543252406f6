import FaultlineRecorder
import Foundation

/// The switch that makes the store check that contexts and objects are used on their queues.
///
/// It is switched on by `-com.apple.CoreData.ConcurrencyDebug 1` on the command line, or by
/// `FAULTLINE_CONCURRENCYDEBUG=1` in the environment, before the first context is made. A misuse then ends the program
/// with a sentence that says what was used where. While it is off, nothing is checked.
enum ConcurrencyDebug {
    static let isOn: Bool = {
        let isOn = isRequested(ProcessInfo.processInfo.arguments, RecordingVariable.environment)
        if isOn { StandardError.write("CoreData: annotation: Core Data multi-threading assertions enabled.\n") }
        return isOn
    }()

    /// What the command line asks for, or else the environment.
    static func isRequested(_ arguments: [String], _ environment: [String: String]) -> Bool {
        if let place = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug"), place + 1 < arguments.count,
            let level = Int(arguments[place + 1])
        {
            return level > 0
        }
        return environment["FAULTLINE_CONCURRENCYDEBUG"].flatMap { Int($0) } ?? 0 > 0
    }
}

extension ManagedObjectContext {
    /// Ends the program if the context is used off its queue and that is to be checked.
    @inline(__always)
    func checkQueue() {
        if isQueueChecked, !isOnQueue { failOffQueue("Context '\(name)'", "its queue") }
    }

    /// The same for an object of the context.
    @inline(never)
    func checkQueue(of object: ManagedObject) {
        guard isQueueChecked, !isOnQueue else { return }
        failOffQueue("\(object.entityName) \(object.objectID)", "the queue of its context '\(name)'")
    }

    @inline(never)
    private func failOffQueue(_ what: String, _ queue: String) -> Never {
        let place = concurrencyType == .mainQueue ? "the main thread" : queue
        fatalError("\(what) was used off \(place); use it inside perform or performAndWait.")
    }
}
