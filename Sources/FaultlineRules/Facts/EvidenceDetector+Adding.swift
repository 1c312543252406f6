internal import FaultlineProfile
internal import FaultlineTrace

// Beside the detectors of rules, because the compiler specializes generic code only within a module.

extension EvidenceDetector {
    /// Whether evidence under a key can be added without exceeding a number of keys.
    func hasRoom(for key: Key, among capacity: Int) -> Bool {
        evidence.count < capacity || evidence[key] != nil
    }

    /// Merges evidence under a key.
    mutating func add(_ found: Evidence, to key: Key) { evidence[key, default: Evidence()].merge(found) }

    /// Returns the surroundings of an event in a scope.
    ///
    /// The scope's wall time counts once for each key.
    ///
    /// - Parameter wallTime: The wall time to use outside any scope, in nanoseconds.
    func surroundings(
        of scope: EventID, for key: Key, outside wallTime: UInt64, in context: inout ProcessContext
    ) -> Surroundings {
        context.surroundings(of: scope, for: EvidenceReference(Self.self, key), outside: wallTime)
    }
}
