/// What work gives or throws that is done by whoever has a store's connection.
///
/// Value and error stand apart from each other: what is read can be large, and is handed on in few steps.
struct WorkOutcome<Value> {
    private var value: Value?
    private var failure: StoreError?

    /// Does the work, once.
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
