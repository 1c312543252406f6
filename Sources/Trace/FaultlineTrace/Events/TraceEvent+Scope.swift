// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// The beginning or the end of a scope.
    ///
    /// Both events carry the scope's own number as their ID, and the enclosing scope as their scope.
    public struct Scope: Sendable, Hashable {
        /// The kind of work that a scope marks.
        public enum Kind: UInt32, Sendable, Hashable, CaseIterable {
            /// Any other work that belongs together.
            case other
            /// The display of one screen.
            case screen
            /// The answer to one request.
            case request
            /// An import, an export or another pass over a large amount of data.
            case bulk
            /// A test.
            case test
            /// Preparation and cleanup, which rules ignore.
            case setup
        }

        /// Whether an event marks the beginning or the end of a scope.
        public enum Phase: UInt32, Sendable, Hashable, CaseIterable {
            /// The beginning.
            case begin
            /// The end.
            case end
        }

        /// The scope's name.
        public var name: DictionaryID = 0
        /// The kind of work that the scope marks.
        public var kind: Kind = .other
        /// Whether the event marks the beginning or the end of the scope.
        public var phase: Phase = .begin

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Scope: EventRecord {
    package static var kind: EventKind { .scope }

    /// The fields of a record of this kind.
    init(_ record: UnsafePointer<fl_event>) {
        let fields = record.pointee.fields.scope
        name = fields.name
        kind = TraceEvent.Scope.Kind(rawValue: fields.kind) ?? .other
        phase = TraceEvent.Scope.Phase(rawValue: fields.phase) ?? .begin
    }

    /// The record of these fields.
    package var record: fl_scope {
        var fields = fl_scope()
        fields.name = name
        fields.kind = kind.rawValue
        fields.phase = phase.rawValue
        return fields
    }
}
