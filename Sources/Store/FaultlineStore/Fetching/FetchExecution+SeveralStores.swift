import FaultlineModel
import FaultlineRecorder
import FaultlineTrace

/// The origin of rows in a result from several stores.
struct FetchSource {
    /// The fetch's entity in that store.
    let entity: EntityRuntime
    /// The columns that the rows contain; `nil` for all.
    let partial: PartialSelection?
}

extension FetchTerms {
    /// The terms of the fetch in each of several stores: all rows up to the end of the requested range.
    var partOfSeveralStores: FetchTerms {
        var part = self
        part.offset = 0
        if resultType == .dictionary, isDistinct, !sortDescriptors.isEmpty {
            // Rows that differ only in their sort keys become one in the result.
            part.limit = 0
        } else if limit > 0 {
            let (end, isTooMuch) = limit.addingReportingOverflow(offset)
            part.limit = isTooMuch ? 0 : end
        }
        return part
    }
}

extension FetchExecution {
    /// Fetches from each store in turn, and merges the results.
    ///
    /// Each store's statement is an event of its own, within the fetch's event.
    func executeEverywhere(_ span: FetchSpan?) throws(StoreError) -> FetchedRows {
        let aggregates = resultType == .dictionaries ? try MergedAggregates(terms, entity.schema, store.schema) : nil
        var asked = aggregates?.terms ?? terms
        if resultType == .count {
            (asked.limit, asked.offset) = (0, 0)
        } else {
            asked = asked.partOfSeveralStores
        }
        var parts: [FetchedRows] = []
        var executions: [FetchExecution] = []
        for store in [store] + otherStores {
            let execution = FetchExecution(
                store: store, context: context, terms: asked, entity: store.entities[entity.position],
                resultType: resultType, site: site)
            execution.warmsRowCache = warmsRowCache
            execution.isPart = true
            let part = span?.part
            parts.append(try execution.execute(part))
            executions.append(execution)
            if let part { span?.update { if parts.count == 1 { $0 = part.event } else { $0.add(part.event) } } }
        }
        var found = FetchedRows()
        switch resultType {
        case .count:
            let rest = max(0, parts.reduce(0) { $0 + $1.count } - terms.offset)
            found.count = terms.limit > 0 ? min(rest, terms.limit) : rest
        case .dictionaries:
            found.dictionaries =
                if let aggregates { [try aggregates.merge(parts.map(\.dictionaries))] } else { merge(parts) }
            found.count = found.dictionaries.count
        case .objects, .objectIDs:
            merge(parts, executions, into: &found)
            found.count = found.keys.count
        }
        span?.update {
            ($0.limit, $0.offset) = (UInt32(clamping: terms.limit), UInt32(clamping: terms.offset))
            $0.rows = UInt32(clamping: found.count)
        }
        return found
    }

    /// Merges the parts in sort order; returns each row as its part and its index there.
    private func order(_ parts: [FetchedRows], _ counts: [Int]) -> [(part: Int, row: Int)] {
        let order = SortOrder(terms.sortDescriptors)
        let isSorted = !terms.sortDescriptors.isEmpty
        var rows: [(Int, Int)] = []
        rows.reserveCapacity(counts.reduce(0, +))
        var next = [Int](repeating: 0, count: parts.count)
        while true {
            var first: Int?
            for part in parts.indices where next[part] < counts[part] {
                guard let known = first else {
                    first = part
                    if isSorted { continue } else { break }
                }
                if order.compare(parts[part].sortKeys[next[part]], parts[known].sortKeys[next[known]]) < 0 {
                    first = part
                }
            }
            guard let first else { return rows }
            rows.append((first, next[first]))
            next[first] += 1
        }
    }

    /// The range of rows between the request's offset and limit.
    private func wanted(_ count: Int) -> Range<Int> {
        let start = min(terms.offset, count)
        return start..<(terms.limit > 0 ? min(count - start, terms.limit) + start : count)
    }

    // MARK: - Objects and identities

    private func merge(_ parts: [FetchedRows], _ executions: [FetchExecution], into found: inout FetchedRows) {
        found.isMerged = true
        // All rows that were read, whether or not they are in the result.
        found.rows = ContiguousArray(parts.flatMap(\.rows))
        found.blocks = parts.flatMap(\.blocks)
        found.sources = zip(parts, executions).map { FetchSource(entity: $1.entity, partial: $0.partial) }
        let isTree = entity.schema.isInTree
        let rows = order(parts, parts.map { $0.isMerged || $0.rows.isEmpty ? $0.keys.count : $0.rows.count })
        for (number, row) in rows[wanted(rows.count)] {
            let part = parts[number]
            var known = part.isMerged ? part.known[row] : nil
            var (key, position): (Int64, Int)
            if !part.isMerged, !part.rows.isEmpty {
                let pointer = part.rows[row]
                (key, position) = (pointer.key, Int(pointer.header.pointee.entity))
                if resultType == .objects {
                    let object = context.object(pointer, besides: executions[number].entity, part.partial)
                    if let prefetched = part.prefetched { object.prefetched = prefetched }
                    known = object
                }
            } else {
                (key, position) = (part.keys[row], part.entities.isEmpty ? entity.position : Int(part.entities[row]))
            }
            found.known.append(known)
            found.keys.append(key)
            if isTree { found.entities.append(Int32(position)) }
            found.sourceNumbers.append(UInt16(number))
        }
    }

    // MARK: - Dictionaries

    private func merge(_ parts: [FetchedRows]) -> [[String: AttributeValue]] {
        var merged: [[String: AttributeValue]] = []
        var seen: Set<[UInt8]> = []
        for (part, row) in order(parts, parts.map(\.dictionaries.count)) {
            let dictionary = parts[part].dictionaries[row]
            if terms.isDistinct, !seen.insert(bytes(dictionary)).inserted { continue }
            merged.append(dictionary)
        }
        return Array(merged[wanted(merged.count)])
    }

    /// Encodes a dictionary for comparison byte by byte, as SQL's DISTINCT compares.
    private func bytes(_ dictionary: [String: AttributeValue]) -> [UInt8] {
        var bytes: [UInt8] = []
        for description in terms.expressions {
            let value = dictionary[description.name].map { SQLValue($0) } ?? .null
            value.append(to: &bytes)
        }
        return bytes
    }
}
