// Made by "make schema" from faultline_events.h. Do not edit.

package import CTraceSchema

extension TraceEvent {
    /// A scope that was opened or closed.
    ///
    /// Both events carry the scope's own number as their ID, and the surrounding scope as their scope.
    public struct Scope: Sendable, Hashable {
        /// What kind of work a scope marks.
        public enum Kind: UInt32, Sendable, Hashable, CaseIterable {
            /// Anything that belongs together.
            case other
            /// What one screen shows at a time.
            case screen
            /// The answer to one request.
            case request
            /// An import, an export or another pass over much data.
            case bulk
            /// A test.
            case test
            /// Preparation and clean-up, which rules leave out.
            case setup
        }

        /// Which end of a scope an event marks.
        public enum Phase: UInt32, Sendable, Hashable, CaseIterable {
            /// The beginning.
            case begin
            /// The end.
            case end
        }

        /// The scope's name.
        public var name: DictionaryID = 0
        /// What kind of work the scope marks.
        public var kind: Kind = .other
        /// Which end of the scope the event marks.
        public var phase: Phase = .begin

        /// Every number zero, every list empty.
        public init() {}
    }
}

extension TraceEvent.Scope {
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
