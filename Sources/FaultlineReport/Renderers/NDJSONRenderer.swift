/// JSON with one object per line: the name that other tools use for the JSON of events and rows.
///
/// ``JSONRenderer`` prints it (https://github.com/ndjson/ndjson-spec).
struct NDJSONRenderer: Renderer {
    let name = "ndjson"
    let purpose = "as another name for json"

    var events: (any EventLines.Type)? { JSONRenderer().events }
    var rows: (any RowLines.Type)? { JSONRenderer().rows }
}
