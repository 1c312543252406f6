/// The result or the error of work on a store's connection.
///
/// They are stored separately, because results can be large and should be moved as few times as possible.
struct WorkOutcome<Value> {
    private var value: Value?
    private var failure: StoreError?

    /// Calls `body` with a pointer to the outcome, for closures that run the work.
    ///
    /// A captured variable would be checked for exclusive access at each run, which costs about 2 % of a fault.
    @inline(__always)
    mutating func fill(_ body: (UnsafeMutablePointer<WorkOutcome>) -> Void) {
        withUnsafeMutablePointer(to: &self, body)
    }

    /// Runs the work; called once.
    @inline(__always)
    mutating func run(on connection: StoreConnection, _ body: (StoreConnection) throws(StoreError) -> Value) {
        do throws(StoreError) {
            try connection.checkOpen()
            value = try body(connection)
        } catch {
            failure = error
        }
    }

    @inline(__always)
    mutating func get() throws(StoreError) -> Value {
        if let failure { throw failure }
        return value.take()!
    }
}
