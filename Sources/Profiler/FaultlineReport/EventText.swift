internal import FaultlineDocuments
internal import FaultlineFindings
package import FaultlineTrace

/// Events as lines of text, in the columns of Instruments' detail pane.
///
///     1.204553000   12.0 µs  main      fault      Item.list      1  store     Scroll.swift:57
package struct EventText: Sendable {
    let dictionary: TraceDictionary
    private var resolver: CallSiteResolver

    /// - Parameter dictionary: The dictionary of the events' process.
    package init(dictionary: TraceDictionary) {
        self.dictionary = dictionary
        resolver = CallSiteResolver(dictionary: dictionary)
    }

    private static let longestKind = EventKind.allCases.map(\.name.count).max() ?? 0
    private static let widths = (start: 13, duration: 8, thread: 8, kind: longestKind, what: 44, rows: 8, note: 8)

    /// The titles of the columns.
    package static var heading: String {
        columns("start (s)", "duration", "thread", "kind", "what", "rows", "", "call site")
    }

    /// Returns the event's line, without a line feed, followed by its frames if requested.
    ///
    /// - Parameter stack: Whether to add the program's own frames of the stack, innermost first. If no frame is known
    ///   to be the program's, all frames are added.
    package mutating func lines(_ event: TraceEvent, stack: Bool = false) -> [String] {
        let site = resolver.reportedSite(of: event)
        let (what, rows, note) = summary(of: event)
        let line = Self.columns(
            Self.seconds(event.start), Self.duration(event), thread(event),
            event.kind.name, what,
            event.unrecorded.contains(.rows) ? "–" : rows.map { Phrase.count(UInt64($0)) } ?? "", note,
            site?.description ?? "–")
        return stack ? [line] + frames(event) : [line]
    }

    private static func duration(_ event: TraceEvent) -> String {
        if event.unrecorded.contains(.duration) { return "–" }
        return event.duration == 0 ? "" : Phrase.duration(event.duration)
    }

    static func columns(
        _ start: String, _ duration: String, _ thread: String, _ kind: String, _ what: String, _ rows: String,
        _ note: String, _ site: String
    ) -> String {
        [
            TextTable.pad(start, to: widths.start, .right), TextTable.pad(duration, to: widths.duration, .right),
            TextTable.pad(thread, to: widths.thread, .left), TextTable.pad(kind, to: widths.kind, .left),
            TextTable.pad(what, to: widths.what, .left), TextTable.pad(rows, to: widths.rows, .right),
            TextTable.pad(note, to: widths.note, .left), Phrase.printable(site),
        ].joined(separator: "  ")
    }

    /// Seconds with nine decimals: `1.204553000`.
    static func seconds(_ nanoseconds: UInt64) -> String {
        let fraction = String(nanoseconds % 1_000_000_000)
        return "\(nanoseconds / 1_000_000_000)." + String(repeating: "0", count: 9 - fraction.count) + fraction
    }

    private func thread(_ event: TraceEvent) -> String {
        event.isMainThread ? "main" : dictionary.thread(event.thread)?.name ?? String(event.thread)
    }

    /// The subject of an event, in a few words.
    func subject(of event: TraceEvent) -> String { summary(of: event).what }

    private func subject(of fault: some FaultEvent) -> String {
        let entity = { (id: DictionaryID) in dictionary.entity(id)?.name ?? "?" }
        let name = dictionary.name(fault.relationship).map { "\(entity(fault.relationshipEntity)).\($0)" }
        return name ?? entity(fault.entity)
    }

    private func summary(of event: TraceEvent) -> (what: String, rows: UInt32?, note: String) {
        let entity = { (id: DictionaryID) in dictionary.entity(id)?.name ?? "?" }
        switch event.detail {
        case .fetch(let fetch):
            let what = dictionary.shape(fetch.shape).map(GroupText.shape) ?? entity(fetch.entity)
            return (what, fetch.rows, fetch.batchSize > 0 ? "by \(fetch.batchSize)" : "")
        case .batch(let batch): return ("\(entity(batch.entity)) from \(batch.firstIndex)", batch.rows, "")
        case .fault(let fault):
            return (subject(of: fault), fault.filled, "\(fault.source)")
        case .cacheHits(let hits):
            return (subject(of: hits), UInt32(clamping: hits.filled), Phrase.count(hits.hits, "hit"))
        case .save(let save):
            let names = save.entities.map { entity($0.entity) }.joined(separator: ", ")
            let rows = UInt64(save.inserted) + UInt64(save.updated) + UInt64(save.deleted)
            return (names, UInt32(clamping: rows), save.error == 0 ? "" : "failed")
        case .sql(let sql):
            let text = dictionary.statement(sql.statement)?.sql ?? "?"
            return (text.split(whereSeparator: \.isWhitespace).joined(separator: " "), sql.rows, "\(sql.type)")
        case .use(let use):
            return ("\(entity(use.entity)): \(use.touchedRows) of \(use.rows) touched", use.loadedRows, "\(use.state)")
        case .scope(let scope):
            return ("\(dictionary.name(scope.name) ?? "?") (\(scope.kind))", nil, "\(scope.phase)")
        case .merge(let merge):
            let names = merge.entities.map { entity($0.entity) }.joined(separator: ", ")
            let saver = dictionary.context(merge.saver)?.name
            return (
                saver.map { "\(names) of \($0)" } ?? names, merge.refreshed,
                merge.trigger == .automatic ? "auto" : "\(merge.trigger)"
            )
        case .release(let release):
            let isResult = release.fetch != 0
            return (
                entity(release.entity) + (isResult ? " result" : ""), nil,
                isResult ? "" : Phrase.size(Double(release.bytes))
            )
        case .refresh(let refresh):
            let name = refresh.entity == 0 ? "objects" : entity(refresh.entity)
            return (name, refresh.objects, refresh.keepsChanges ? "merged" : "")
        case .wait(let wait):
            let owner = self.owner(of: wait)
            return (
                owner.map { "\(wait.resource) of \($0)" } ?? "\(wait.resource)", nil, wait.error == 0 ? "" : "failed"
            )
        case .migration(let migration):
            let name = dictionary.name(migration.name).map { Phrase.fileName($0) }
            return (
                ["\(migration.stage)", name].compactMap { $0 }.joined(separator: " "), UInt32(clamping: migration.rows),
                migration.error == 0 ? "\(migration.way)" : "failed"
            )
        case .cpu(let sample):
            let leaf = dictionary.stack(sample.leaf)?.addresses.first.flatMap { dictionary.frame(at: $0) }
            return (leaf?.locations.first?.function ?? "", nil, Phrase.duration(sample.weight))
        case .allocation(let allocation):
            guard allocation.allocation == 0 else { return ("freed", nil, "") }
            return ("allocated", nil, Phrase.size(Double(allocation.bytes)))
        case .memory(let memory):
            return (
                "RSS \(Phrase.size(Double(memory.resident)))", nil, "PSS \(Phrase.size(Double(memory.proportional)))"
            )
        default: return plainSummary(of: event)
        }
    }

    /// The summary of a kind without special wording, from its schema: its title, its rows, and the flags that are set.
    ///
    /// If it has no title, its other counts: `12 objects, 3 unsaved`.
    private func plainSummary(of event: TraceEvent) -> (what: String, rows: UInt32?, note: String) {
        let fields = event.detail.values.fields
        let counts = fields.filter { $0.field.meaning == .count && $0.field.name != "rows" && $0.value > 0 }
        let words =
            EventSchema.of(event.kind).title == nil
            ? counts.map { "\(Phrase.count($0.value)) \($0.field.name)" }.joined(separator: ", ")
            : event.titleValue.flatMap { EventFields(dictionary: dictionary).words($0.field, $0.value) }
        let rows = fields.first { $0.field.name == "rows" }.map { UInt32(clamping: $0.value) }
        let flags = fields.filter { $0.field.meaning == .flag && $0.value != 0 }.map(\.field.name)
        return (words ?? "?", rows, flags.joined(separator: ", "))
    }

    /// The owner of the resource that was waited for: `background 2 at Import.swift:30`, `process 4711`, `thread 12`.
    private func owner(of wait: TraceEvent.Wait) -> String? {
        if wait.ownerProcess != 0 { return "process \(wait.ownerProcess)" }
        let site = dictionary.site(wait.ownerSite).map { CallSite(file: $0.file, line: $0.line).description }
        let name =
            dictionary.context(wait.owner)?.name
            ?? (wait.ownerThread == 0
                ? nil : "thread \(dictionary.thread(wait.ownerThread)?.name ?? String(wait.ownerThread))")
        let words = [name, site.map { "at \($0)" }].compactMap { $0 }
        return words.isEmpty ? nil : words.joined(separator: " ")
    }

    private mutating func frames(_ event: TraceEvent) -> [String] {
        let indent = String(repeating: " ", count: 8)
        guard let stack = dictionary.stack(event.stack) else { return [] }
        let callers = resolver.callers(of: event)
        var lines =
            callers.isEmpty
            ? allFrames(stack, indent) : callers.map { indent + Phrase.printable("\($0.function)  \($0.description)") }
        if stack.isTruncated == true { lines.append("\(indent)… cut short") }
        return lines
    }

    private func allFrames(_ stack: StackEntry, _ indent: String) -> [String] {
        dictionary.frames(of: stack).flatMap { shown -> [String] in
            guard let frame = shown.entry, !frame.locations.isEmpty else { return [indent + shown.address] }
            return frame.locations.map { location in
                let line = CallSite(file: location.file, line: location.line).description
                return indent + Phrase.printable("\(location.function)  \(line.isEmpty ? frame.module : line)")
            }
        }
    }
}
