import CTraceSchema

/// The event reference: every kind of event with its fields, as an article.
struct ReferenceText {
    let schema: Schema

    func text() -> String {
        var text = """
            # Event Reference

            What a trace records, kind by kind.

            ## Overview

            Names are those of the JSON timeline, the LTTng tracepoints (`faultline:fetch`) and, with few exceptions, the
            columns of `faultline query`. IDs refer to the dictionary of the same process. Fields of 0 are left out of the
            JSON timeline.

            ## What every event carries


            """
        text += table(schema.common)
        for kind in schema.kinds { text += section(kind) }
        text += "\n## Words\n"
        for enumeration in schema.enumerations {
            text += "\n### \(enumeration.type)\n\n\(enumeration.text)\n\n"
            for value in enumeration.values { text += "- `\(value.word)`: \(value.text)\n" }
        }
        return text
    }

    private func section(_ kind: Schema.Kind) -> String {
        var text = "\n## \(kind.name)\n\n\(kind.text)\n\n" + table(kind.fields)
        for list in kind.lists {
            text += "\n`\(list.name)`, a list: \(list.text)\n\n" + table(list.entry.words)
        }
        return text
    }

    private func table(_ fields: [Schema.Field]) -> String {
        "| field | unit | meaning |\n| --- | --- | --- |\n"
            + fields.map { "| `\($0.name)` | \(unit(of: $0)) | \($0.text) |\n" }.joined()
    }

    private func unit(of field: Schema.Field) -> String {
        switch field.meaning {
        case .FL_COUNT: "count"
        case .FL_BYTES: "bytes"
        case .FL_NANOSECONDS: "ns"
        case .FL_EVENT_ID: "event"
        case .FL_REFERENCE: String(cString: fl_dictionary_name(field.detail))
        case .FL_HASH: "hash"
        case .FL_ENUMERATION, .FL_CHOICE: schema.enumerations[Int(field.detail)].type
        case .FL_FLAG: "true or false"
        case .FL_CODE: "number"
        case .FL_SHORT_HASH: "hash"
        case .FL_PREFETCH_PATH, .FL_PROPERTY: "index"
        }
    }
}
