public import FaultlineModel
import FaultlineRecorder
public import FaultlineStore
public import FaultlineTrace
public import Foundation

/// A small program that does the same work in two forms, flawed and repaired, on a store that it is given.
///
///     Inventory <store> flawed|repaired prepare [number]…
///     Inventory <store> flawed|repaired <scenario>…
///
/// Each form prepares the store that it reads, so that a repair can be one of the model.
public struct Application: Sendable {
    /// The store.
    public let storeURL: URL
    /// Whether the work is done as it should not be.
    public let isFlawed: Bool
    /// The store is filled, and nothing else is done.
    public let isPreparing: Bool
    /// The names of what is to be done.
    public let scenarios: [String]
    /// How large the store is to be, in the program's own terms; empty: as large as it is by default.
    public let sizes: [Int]

    /// Reads the arguments of the command line; ends the program with a sentence if there are too few.
    public init(_ arguments: [String] = CommandLine.arguments) {
        guard arguments.count >= 4 else {
            FileHandle.standardError.write(
                Data("Usage: \(arguments.first ?? "program") <store> flawed|repaired prepare|<scenario>…\n".utf8))
            exit(2)
        }
        storeURL = URL(fileURLWithPath: arguments[1])
        isFlawed = arguments[2] == "flawed"
        isPreparing = arguments[3] == "prepare"
        scenarios = isPreparing ? [] : Array(arguments[3...])
        sizes = isPreparing ? arguments[4...].compactMap { Int($0) } : []
    }

    /// Opens the store.
    public func container(
        _ name: String, _ model: ManagedObjectModel, classes: [ManagedObject.Type] = []
    ) throws -> PersistentContainer {
        try PersistentContainer(name: name, managedObjectModel: model, storeURL: storeURL, classes: classes)
    }

    /// Fills the store, or does each scenario in a scope of its name, on a context that holds nothing yet.
    ///
    /// For programs whose work is done on one background context, beside the main thread. Others ask ``isPreparing`` and ``scenarios`` themselves.
    ///
    /// - Parameter scopes: The kinds of the scenarios' scopes; `request` where none is given.
    public func run(
        _ container: PersistentContainer, scopes: [String: TraceEvent.Scope.Kind] = [:],
        prepare: @escaping (ManagedObjectContext) throws -> Void,
        scenario: @escaping (String, ManagedObjectContext) throws -> Void
    ) throws {
        let context = container.newBackgroundContext()
        try besideMainThread {
            try context.performAndWait {
                if isPreparing { return try prepare(context) }
                for name in scenarios {
                    try Faultline.scope(name, kind: scopes[name] ?? .request) { try scenario(name, context) }
                    // Objects in the context would be read from memory.
                    context.reset()
                }
            }
        }
    }

    /// Does work on a thread of its own, for which the main thread waits.
    ///
    /// On the main thread itself a screen would have to wait for it, and how long depends on what else the machine does.
    private func besideMainThread(_ work: @escaping () throws -> Void) throws {
        // One thread waits while the other works.
        nonisolated(unsafe) let work = work
        nonisolated(unsafe) var result = Result<Void, any Error>.success(())
        let isDone = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            result = Result { try work() }
            isDone.signal()
        }
        isDone.wait()
        try result.get()
    }
}
