import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

extension ChangeSet {
    /// The objects to write that a fetch returned and the program has not read, by fetch: candidates for a batch
    /// request.
    ///
    /// Empty if a class overrides a method that runs for each saved object.
    ///
    /// - Parameter hash: a keyed hash of bytes.
    func unread(_ hash: (UnsafeRawBufferPointer) -> UInt64) -> [TraceEvent.Save.Unread] {
        guard !deleted.contains(where: { $0.overrides(.saving) }), !updated.contains(where: { $0.overrides(.saving) })
        else { return [] }
        var parts: [EventID: UnreadPart] = [:]
        for object in deleted where object.isUnread { parts[object.trail.fetch, default: UnreadPart()].deleted += 1 }
        for object in updated where object.isUnread { parts[object.trail.fetch, default: UnreadPart()].add(object) }
        let counts = parts.map { fetch, part in
            TraceEvent.Save.Unread(
                fetch: fetch, deleted: part.deleted, updated: part.updated, properties: part.properties,
                values: part.updated > 0 ? part.bytes.withUnsafeBytes(hash) >> 11 : 0)
        }
        return Array(
            counts.filter { $0.deleted + $0.updated > 0 }.sorted { $0.fetch < $1.fetch }
                .prefix(TraceEvent.Save.Unread.maximumFetches))
    }
}

/// The unread objects of one fetch that a save writes.
private struct UnreadPart {
    var deleted: UInt64 = 0
    /// The number of objects that were set to the same values as the first.
    var updated: UInt64 = 0
    /// The properties that were set, one bit each.
    var properties: UInt64 = 0
    private var values: PendingChanges?

    /// The values that were set, as bytes to hash.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        guard let values else { return bytes }
        for index in values.indices {
            switch values[index] {
            case .value(let value): SQLValue(value).append(to: &bytes)
            case .null: SQLValue.null.append(to: &bytes)
            case .unchanged, .object: bytes.append(.max)
            }
        }
        return bytes
    }

    mutating func add(_ object: ManagedObject) {
        guard let pending = object.pending, object.toMany.values.allSatisfy({ !$0.hasChanges }) else { return }
        guard let first = values else {
            guard let properties = object.settableProperties(pending) else { return }
            (values, self.properties, updated) = (pending, properties, 1)
            return
        }
        let isAlike = object.runtime.schema.properties.indices.allSatisfy { index in
            let value = index < first.indices.upperBound ? first[index] : .unchanged
            return pending[index].isSame(as: value)
        }
        updated += isAlike ? 1 : 0
    }
}

extension ObjectTrail {
    /// The last fetch that returned the object; 0 if unknown.
    fileprivate var fetch: EventID { use?.fetch ?? 0 }
}

extension ManagedObject {
    /// Whether a fetch returned the object and none of its properties has been read since.
    fileprivate var isUnread: Bool {
        trail.fetch != 0 && trail.readProperties == 0 && runtime.schema.properties.count <= UInt64.bitWidth
    }

    /// The properties that were set, one bit each; `nil` if there are none, or some that a batch request cannot set.
    fileprivate func settableProperties(_ pending: PendingChanges) -> UInt64? {
        var bits: UInt64 = 0
        for property in runtime.schema.properties {
            switch pending[property.index] {
            case .unchanged: continue
            case .value, .null:
                guard property.attributeType.map({ $0 != .transformable }) ?? false, !property.isTransient,
                    !property.isDerived, !property.isExternal,
                    property.index < TraceEvent.Save.Unread.maximumProperties
                else { return nil }
                bits |= 1 << UInt64(property.index)
            case .object: return nil
            }
        }
        return bits == 0 ? nil : bits
    }
}
