package import FaultlineModel
import FaultlineRecorder
import Foundation

/// Reading an attribute: from the row, or from the unsaved changes.
extension ManagedObject {
    /// Prepares for reading a property: checks the queue, fires the fault and records the use.
    ///
    /// Returns the property's unsaved value.
    @inline(never)
    final func prepareToRead(_ index: Int) -> PendingValue {
        if flags.contains(.isQueueChecked) { managedObjectContext.checkQueue(of: self) }
        if flags.contains(.isFault), !flags.contains(.isDetached), !fireFromRow(canCount: true) {
            if let value = partialValue(index) { return value }
            _ = managedObjectContext.fire(self)
        }
        if flags.contains(.isTracked) { observeReading(index) }
        guard flags.contains(.hasPending), let pending else { return .unchanged }
        return pending[index]
    }

    /// Fires the fault of an object that already has its row, unless that needs an event of its own or a line in the
    /// log.
    ///
    /// - Parameter canCount: Whether the trace may count the fault.
    @inline(__always)
    private final func fireFromRow(canCount: Bool) -> Bool {
        // A child asks its parent. The object holds its context, and the context holds the recorder and the log.
        guard managedObjectContext.parent == nil else { return false }
        unowned(unsafe) let recorder = managedObjectContext.recorder
        unowned(unsafe) let log = managedObjectContext.log
        guard let row, !row.isSuperseded, Int(row.header.pointee.entity) == runtime.position, !log.isOn,
            !overrides(.awakeFromFetch), managedObjectContext.stalenessInterval < 0
        else { return false }
        if recorder.isEnabled, !canCount || !managedObjectContext.count(self, row) { return false }
        flags.remove(.isFault)
        return true
    }

    /// Fires a fault without any other state if its row has a value in a column; returns the row.
    ///
    /// Releases nothing, which lets the caller read without retaining the object.
    @usableFromInline
    @inline(never)
    @_effects(releasenone)
    final func firePlainly(_ slot: UInt64) -> UnsafeRawPointer? {
        guard flags == .isFault, let row, row.hasValue(slot: Int(truncatingIfNeeded: slot)),
            fireFromRow(canCount: false)
        else { return nil }
        return UnsafeRawPointer(row.address)
    }

    /// Prepares for reading a property; returns whether its value is the row's.
    @inline(never)
    final func isUnchanged(_ index: Int) -> Bool {
        if case .unchanged = prepareToRead(index) { true } else { false }
    }

    /// The value that a partial fault has of a property, read or set since; `nil` if the fault must fire.
    private final func partialValue(_ index: Int) -> PendingValue? {
        guard let partial, partial.selection.contains(index) else { return nil }
        if flags.contains(.isTracked) { observeReading(index) }
        if flags.contains(.hasPending), let pending {
            if case .unchanged = pending[index] {} else { return pending[index] }
        }
        guard let location = location(index, in: partial.row) else { return .null }
        let property = runtime.schema.properties[index]
        if property.isRelationship { return .object(destination(property, location)) }
        guard property.isExternal else { return Self.value(property, location).map { .value($0) } ?? .null }
        // A save may have replaced the external file; only the fault's row then knows the value's location.
        guard let value = try? runtime.store.external.value(location.row.bytes(at: location.offset)) else {
            return nil
        }
        return .value(.binary(value))
    }

    final func observeReading(_ index: Int) {
        let bit: UInt64 = index < 64 ? 1 << UInt64(index) : 0
        // Reads by a deletion that follows its delete rules are not reads by the program.
        // The context has weak references, which make retaining it slow, so no variable holds it.
        guard trail.readProperties & bit == 0, managedObjectContext.deletionDepth == 0 else { return }
        let cost = managedObjectContext.costOfFrequentWork()
        trail.readProperties |= bit
        let slot = Unmanaged.passUnretained(runtime)._withUnsafeGuaranteedRef { $0.slots[index] }
        if (0..<64).contains(slot) { trail.readSlots |= 1 << UInt64(slot) }
        observeAttention()
        if let summary = trail.slot {
            FetchUse.read(property: index, row: trail.row, in: summary)
        } else {
            observeDestinationUse(.read(index))
        }
        if cost != 0 { managedObjectContext.recorder.endCost(cost) }
    }

    /// Records how an object that was reached through a to-one relationship is used.
    private final func observeDestinationUse(_ use: DestinationUses.Use) {
        guard trail.relationship >= 0 else { return }
        let owner = runtime.store.entities[Int(trail.relationshipEntity)]
        observeUse(use, at: Int(trail.relationship), of: owner)
    }

    /// Records how this object, the destination of a to-one relationship, is used.
    final func observeUse(_ use: DestinationUses.Use, at relationship: Int, of owner: EntityRuntime) {
        let recorder = managedObjectContext.recorder
        guard recorder.isEnabled else { return }
        owner.destinationUses.note(relationship, of: owner, in: runtime.schema, use, recorder)
    }

    /// Records in the trace that the object was changed or deleted.
    final func observeChange() {
        guard flags.contains(.isTracked), !flags.contains(.isChangeNoted) else { return }
        flags.insert(.isChangeNoted)
        if let use = trail.use { use.modifiedRow() } else { observeDestinationUse(.other) }
    }

    /// The position of a value in the row; `nil` if the row has no value.
    @inline(__always)
    final func location(_ index: Int) -> (row: RowPointer, offset: Int)? {
        row.flatMap { location(index, in: $0) }
    }

    @inline(__always)
    private final func location(_ index: Int, in row: RowPointer) -> (row: RowPointer, offset: Int)? {
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
        guard let (row, offset) = location(index) else { return transientValue(index).flatMap { Int64($0) } }
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
        guard let (row, offset) = location(index) else {
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
        guard let (row, offset) = location(index) else { return transientValue(index).flatMap { String($0) } }
        return row.text(at: offset)
    }

    final func readData(_ index: Int) -> Data? {
        guard case .binary(let value)? = readValue(index) else { return nil }
        return value
    }

    private final func transientValue(_ index: Int) -> AttributeValue? {
        guard !transients.isEmpty || runtime.schema.properties[index].isTransient else { return nil }
        if case .value(let value)? = transients[index] { return value }
        return nil
    }

    /// The value of an attribute of any type; `nil` if it has none.
    package final func readValue(_ index: Int) -> AttributeValue? {
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
        guard let location = location(index) else { return nil }
        let property = runtime.schema.properties[index]
        if property.isExternal { return managedObjectContext.externalValue(index, of: self).map { .binary($0) } }
        return Self.value(property, location)
    }

    private static func value(_ property: PropertySchema, _ location: (row: RowPointer, offset: Int)) -> AttributeValue?
    {
        let (row, offset) = location
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

    /// The value of a non-optional attribute that has none: its default, or zero, empty or false.
    public final func _default<Value: AttributeScalar>(_ index: Int) -> Value {
        runtime.defaults[index].flatMap { Value($0) } ?? Value.zeroValue
    }
}
