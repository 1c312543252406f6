/// The fields of one kind of event, which can be written to a record of the schema.
package protocol EventRecord: Sendable {
    associatedtype Record

    static var kind: EventKind { get }

    /// The record of these fields.
    var record: Record { get }

    /// The words of the lists that follow the record.
    ///
    /// Empty for kinds without lists.
    var words: [UInt64] { get }
}

extension EventRecord {
    package var words: [UInt64] { [] }
}
