import FaultlineRecorder
import Foundation

/// The check that contexts and objects are used on their queues.
///
/// `-com.apple.CoreData.ConcurrencyDebug 1` on the command line, or `FAULTLINE_CONCURRENCYDEBUG=1` in the environment,
/// enables it before the first context is created. Misuse then ends the program with a message that names the context
/// or object and its queue. While it is off, nothing is checked.
enum ConcurrencyDebug {
    static let isOn: Bool = {
        let isOn = isRequested(ProcessInfo.processInfo.arguments, RecordingVariable.environment)
        if isOn { StandardError.write("CoreData: annotation: Core Data multi-threading assertions enabled.\n") }
        return isOn
    }()

    /// Whether the check is enabled by the command line or, if that does not set it, by the environment.
    static func isRequested(_ arguments: [String], _ environment: [String: String]) -> Bool {
        if let position = arguments.firstIndex(of: "-com.apple.CoreData.ConcurrencyDebug"),
            position + 1 < arguments.count,
            let level = Int(arguments[position + 1])
        {
            return level > 0
        }
        return environment["FAULTLINE_CONCURRENCYDEBUG"].flatMap { Int($0) } ?? 0 > 0
    }
}

extension ManagedObjectContext {
    /// Ends the program if the check is on and the context is used off its queue.
    @inline(__always)
    func checkQueue() {
        if isQueueChecked, !isOnQueue { failOffQueue("Context '\(name)'", "its queue") }
    }

    /// Ends the program if the check is on and an object is used off its context's queue.
    @inline(never)
    func checkQueue(of object: ManagedObject) {
        guard isQueueChecked, !isOnQueue else { return }
        failOffQueue("\(object.entityName) \(object.objectID)", "the queue of its context '\(name)'")
    }

    @inline(never)
    private func failOffQueue(_ what: String, _ queue: String) -> Never {
        let owner = concurrencyType == .mainQueue ? "the main thread" : queue
        fatalError("\(what) was used off \(owner); use it inside perform or performAndWait.")
    }
}
