/// JSON with one object per line (https://github.com/ndjson/ndjson-spec): the name that other tools use for the JSON of events
/// and rows, which ``JSONRenderer`` prints.
struct NDJSONRenderer: Renderer {
    let name = "ndjson"
    let purpose = "as another name for json"

    var events: (any EventLines.Type)? { JSONRenderer().events }
    var rows: (any RowLines.Type)? { JSONRenderer().rows }
}
