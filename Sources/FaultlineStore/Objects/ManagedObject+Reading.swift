import FaultlineModel
import FaultlineRecorder
import Foundation

/// The way from an attribute to its value: in the row, or among the unsaved changes.
extension ManagedObject {
    /// What must happen before a property is read: the fault fires, the use is noted.
    ///
    /// Returns what was set and not saved.
    @inline(never)
    final func prepareToRead(_ index: Int) -> PendingValue {
        if flags.contains(.isQueueChecked) { managedObjectContext.checkQueue(of: self) }
        if flags.contains(.isFault), !flags.contains(.isDetached), !fireFromRow() {
            if let value = partialValue(index) { return value }
            _ = managedObjectContext.fire(self)
        }
        if flags.contains(.isTracked) { observeReading(index) }
        guard flags.contains(.hasPending), let pending else { return .unchanged }
        return pending[index]
    }

    /// Fires the fault of an object whose row is at hand while nobody listens.
    @inline(__always)
    private final func fireFromRow() -> Bool {
        // The object holds the context, and the context both.
        unowned(unsafe) let recorder = managedObjectContext.recorder
        unowned(unsafe) let log = managedObjectContext.log
        guard let row, !row.isSuperseded, Int(row.header.pointee.entity) == runtime.place, !recorder.isEnabled,
            !log.isOn, !overrides(.awakeFromFetch), managedObjectContext.stalenessInterval < 0
        else { return false }
        flags.remove(.isFault)
        return true
    }

    /// Does the same with an object that is nothing else than a fault, if the row has a value in a column; returns the row.
    ///
    /// Nothing is released, so that whoever reads need not retain the object for it.
    @usableFromInline
    @inline(never)
    @_effects(releasenone)
    final func firePlainly(_ slot: UInt64) -> UnsafeRawPointer? {
        guard flags == .isFault, let row, row.hasValue(slot: Int(truncatingIfNeeded: slot)), fireFromRow() else {
            return nil
        }
        return UnsafeRawPointer(row.address)
    }

    /// Does what must happen before a property is read; whether it is read from the row then.
    @inline(never)
    final func isUnchanged(_ index: Int) -> Bool {
        if case .unchanged = prepareToRead(index) { true } else { false }
    }

    /// What a partial fault has read of a property, or was set meanwhile; `nil`: the fault must fire.
    private final func partialValue(_ index: Int) -> PendingValue? {
        guard let partial, partial.selection.contains(index) else { return nil }
        if flags.contains(.isTracked) { observeReading(index) }
        if flags.contains(.hasPending), let pending {
            if case .unchanged = pending[index] {} else { return pending[index] }
        }
        guard let place = place(index, in: partial.row) else { return .null }
        let property = runtime.schema.properties[index]
        if property.isRelationship { return .object(destination(property, place)) }
        guard property.isExternal else { return Self.value(property, place).map { .value($0) } ?? .null }
        // The file may be another's by now: the fault's row says where the value is.
        guard let value = try? runtime.store.external.value(place.row.bytes(at: place.offset)) else {
            return nil
        }
        return .value(.binary(value))
    }

    final func observeReading(_ index: Int) {
        let bit: UInt64 = index < 64 ? 1 << UInt64(index) : 0
        // What a deletion looks at to follow its delete rules is not read by the program.
        guard trail.readProperties & bit == 0, managedObjectContext.deletionDepth == 0 else { return }
        trail.readProperties |= bit
        let slot = runtime.slots[index]
        if (0..<64).contains(slot) { trail.readSlots |= 1 << UInt64(slot) }
        observeAttention()
        if let use = trail.use {
            use.read(property: index, row: Int(trail.row))
        } else {
            observeDestinationUse(.read(index))
        }
    }

    /// Notes how an object is used, if a to-one relationship led to it.
    private final func observeDestinationUse(_ use: DestinationUses.Use) {
        guard trail.relationship >= 0 else { return }
        let owner = runtime.store.entities[Int(trail.relationshipEntity)]
        observeUse(use, at: Int(trail.relationship), of: owner)
    }

    /// Notes how the object at the end of a to-one relationship, which is this one, is used.
    final func observeUse(_ use: DestinationUses.Use, at relationship: Int, of owner: EntityRuntime) {
        let recorder = managedObjectContext.recorder
        guard recorder.isEnabled else { return }
        owner.destinationUses.note(relationship, of: owner, in: runtime.schema, use, recorder)
    }

    /// Notes for the trace that the object was changed or deleted.
    final func observeChange() {
        guard flags.contains(.isTracked), !flags.contains(.isChangeNoted) else { return }
        flags.insert(.isChangeNoted)
        if let use = trail.use { use.modifiedRow() } else { observeDestinationUse(.other) }
    }

    /// Where the value stands in the row; `nil`: there is none.
    @inline(__always)
    final func place(_ index: Int) -> (row: RowPointer, offset: Int)? {
        row.flatMap { place(index, in: $0) }
    }

    @inline(__always)
    private final func place(_ index: Int, in row: RowPointer) -> (row: RowPointer, offset: Int)? {
        let slot = runtime.slots[index]
        guard slot >= 0, row.hasValue(slot: slot) else { return nil }
        return (row, runtime.offsets[index])
    }

    final func readInteger(_ index: Int) -> Int64? {
        if !flags.isDisjoint(with: .slow) {
            switch prepareToRead(index) {
            case .unchanged: break
            case .value(.integer(let value)): return value
            case .value(.boolean(let value)): return value ? 1 : 0
            case .value, .null, .object: return nil
            }
        }
        guard let (row, offset) = place(index) else { return transientValue(index).flatMap { Int64($0) } }
        return row.integer(at: offset)
    }

    final func readReal(_ index: Int) -> Double? {
        if !flags.isDisjoint(with: .slow) {
            switch prepareToRead(index) {
            case .unchanged: break
            case .value(.double(let value)): return value
            case .value(.date(let value)): return value.timeIntervalSinceReferenceDate
            case .value, .null, .object: return nil
            }
        }
        guard let (row, offset) = place(index) else {
            guard let value = transientValue(index) else { return nil }
            if case .date(let date) = value { return date.timeIntervalSinceReferenceDate }
            return Double(value)
        }
        return row.real(at: offset)
    }

    final func readText(_ index: Int) -> String? {
        if !flags.isDisjoint(with: .slow) {
            switch prepareToRead(index) {
            case .unchanged: break
            case .value(.string(let value)): return value
            case .value, .null, .object: return nil
            }
        }
        guard let (row, offset) = place(index) else { return transientValue(index).flatMap { String($0) } }
        return row.text(at: offset)
    }

    final func readData(_ index: Int) -> Data? {
        guard case .binary(let value)? = readValue(index) else { return nil }
        return value
    }

    private final func transientValue(_ index: Int) -> AttributeValue? {
        guard !transients.isEmpty || runtime.schema.properties[index].isTransient else { return nil }
        return transients[index]
    }

    /// An attribute's value, whatever its type; `nil` where there is none.
    final func readValue(_ index: Int) -> AttributeValue? {
        if !flags.isDisjoint(with: .slow) {
            switch prepareToRead(index) {
            case .unchanged: break
            case .value(let value): return value
            case .null, .object: return nil
            }
        }
        return storedValue(index) ?? transientValue(index)
    }

    /// The value in the row.
    final func storedValue(_ index: Int) -> AttributeValue? {
        guard let place = place(index) else { return nil }
        let property = runtime.schema.properties[index]
        if property.isExternal { return managedObjectContext.externalValue(index, of: self).map { .binary($0) } }
        return Self.value(property, place)
    }

    private static func value(_ property: PropertySchema, _ place: (row: RowPointer, offset: Int)) -> AttributeValue? {
        let (row, offset) = place
        switch property.attributeType {
        case .integer16, .integer32, .integer64: return .integer(row.integer(at: offset))
        case .boolean: return .boolean(row.integer(at: offset) != 0)
        case .double, .float: return .double(row.real(at: offset))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: row.real(at: offset)))
        case .string: return .string(row.text(at: offset))
        case .uri: return URL(string: row.text(at: offset)).map { .uri($0) }
        case .decimal: return Decimal(string: row.text(at: offset)).map { .decimal($0) }
        case .uuid:
            let bytes = row.bytes(at: offset)
            guard bytes.count == 16 else { return nil }
            return .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self)))
        case .binary, .transformable: return .binary(Data(row.bytes(at: offset)))
        case .undefined, .composite, nil: return nil
        }
    }

    /// What an attribute reads as that must have a value and has none.
    public final func _default<Value: AttributeScalar>(_ index: Int) -> Value {
        runtime.defaults[index].flatMap { Value($0) } ?? Value.zeroValue
    }
}
