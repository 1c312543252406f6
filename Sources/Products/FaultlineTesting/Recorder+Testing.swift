public import FaultlineRecorder

extension Recorder {
    /// A recorder that keeps its events in memory: pass it to the container of the code under test.
    ///
    ///     let container = try PersistentContainer(name: "Groceries", …, recorder: .testing)
    ///
    /// There is one for the whole process, which records from its first use to the end. Its memory grows with the
    /// tests, by a few hundred bytes per event.
    public static let testing = Recorder.memory(ringBytes: 4 << 20)
}
