public import FaultlineRecorder

extension Recorder {
    /// A recorder that keeps what tests do in memory: pass it to the container of the code under test.
    ///
    ///     let container = try PersistentContainer(name: "Groceries", …, recorder: .testing)
    ///
    /// One for the whole process, on from the first use to the end. Its memory grows with what the tests do, some hundred
    /// bytes an event.
    public static let testing = Recorder.memory(ringBytes: 4 << 20)
}
