/// A fault, or a sum of faults that differ only in their objects.
package protocol FaultEvent {
    var type: TraceEvent.Fault.FaultType { get set }
    /// The fetch that produced the objects, or the object from which they were reached.
    var origin: EventID { get set }
    var entity: DictionaryID { get set }
    /// The relationship that fired or through which the objects were reached, or 0.
    var relationship: DictionaryID { get set }
    var relationshipEntity: DictionaryID { get set }
}

extension FaultEvent {
    /// The relationship's entity or, without a relationship, the objects'.
    package var owner: DictionaryID { relationship == 0 ? entity : relationshipEntity }
}

extension TraceEvent.Fault: FaultEvent {}

extension TraceEvent.CacheHits: FaultEvent {}
