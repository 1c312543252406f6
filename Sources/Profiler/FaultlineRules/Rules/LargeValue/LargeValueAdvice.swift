internal import FaultlineFindings
internal import FaultlineProfile
internal import FaultlineTrace

/// The wording of R09's findings.
struct LargeValueAdvice {
    let candidate: LargeValue

    private var name: String { "\(candidate.entity).\(candidate.property.name)" }
    private var isForFile: Bool {
        candidate.mean >= LargeValueRule.fileSize.value && candidate.property.type == "Binary"
    }

    var title: Wording {
        isForFile
            ? "Keep \(property: name) outside the rows, in files of its own"
            : "Move \(property: name) into an entity of its own"
    }

    /// The line that declares the property in the model.
    var declaration: CallSite? {
        guard let text = candidate.property.declaredAt, let colon = text.lastIndex(of: ":"),
            let line = Int(text[text.index(after: colon)...])
        else { return candidate.property.declaredAt.map { CallSite(file: $0, line: 0) } }
        return CallSite(file: String(text[..<colon]), line: line)
    }

    var fix: Wording {
        isForFile
            ? "Values of this size are better kept in files beside the store, which are read only when needed."
            : "Give the value an entity with a to-one relationship from \(entity: candidate.entity), so that rows "
                + "stay small and the value is loaded only when needed."
    }

    var code: [String] {
        let property = candidate.property.name
        if isForFile { return ["\(property).allowsExternalBinaryDataStorage = true"] }
        let entity = candidate.entity + property.prefix(1).uppercased() + property.dropFirst()
        return [
            "// In the model: \(candidate.entity).\(property): to-one \(entity); \(entity).value: \(candidate.property.type)"
        ]
    }

    var explanation: [Wording] {
        let hot = candidate.hot
        return [
            "\(percent: candidate.largeShare) of the values have at least 16 KiB; the average is "
                + "\(size: candidate.mean).",
            "\(count: candidate.fetches.count, "fetch", plural: "fetches") loaded it in "
                + "\(rows: hot.rowsLoaded), \(size: hot.bytes) in all; the program read it in "
                + "\(count: hot.rowsRead, of: .rows).",
        ]
    }

    var numbers: [Evidence] {
        [
            Evidence("rowsLoaded", candidate.all.rowsLoaded, .rows),
            Evidence("rowsRead", candidate.all.rowsRead, .rows),
            Evidence("rowsLoadedWithoutNeed", candidate.unread, .rows),
            Evidence("bytes", candidate.all.bytes, .bytes), Evidence("meanBytes", candidate.mean, .bytes),
            Evidence("largeShare", candidate.largeShare, .share),
            Evidence("entityBytes", candidate.entityBytes, .bytes),
        ]
    }
}
