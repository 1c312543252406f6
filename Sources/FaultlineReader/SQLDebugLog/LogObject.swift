import Foundation

/// Cuts the JSON of `log show --style json` and `--style ndjson` into its objects, one for each message.
///
///     {"timestamp":"2022-11-05 10:12:31.123456+0100","subsystem":"com.apple.coredata","category":"sql",
///      "eventMessage":"SELECT …","processImagePath":"/…/App","processID":4711,"threadID":7982}
struct LogObject {
    /// What an object says.
    struct Message {
        var text = ""
        /// That of Core Data's part of the log; empty: it is none of Core Data's.
        var category: Substring = ""
        var writer = SQLDebugLine.Writer()
        var program: Substring = ""
        var time: UInt64?

        /// - Returns: `nil` if the text is no object.
        init?(_ object: [UInt8]) {
            guard let value = try? JSONSerialization.jsonObject(with: Data(object)) as? [String: Any] else {
                return nil
            }
            text = value["eventMessage"] as? String ?? ""
            if value["subsystem"] as? String == "com.apple.coredata" {
                category = (value["category"] as? String ?? "")[...]
            }
            let number = { (name: String) in (value[name] as? NSNumber)?.uint64Value ?? 0 }
            let thread = number("threadID")
            writer.process = UInt32(truncatingIfNeeded: number("processID"))
            writer.thread = thread == 0 ? "" : String(thread, radix: 16)[...]
            program = (value["processImagePath"] as? String ?? "").split(separator: "/").last ?? ""
            time = (value["timestamp"] as? String).flatMap { LogPrefix($0[...]).time }
        }
    }

    /// Bytes that an object may have.
    private static let maximumLength = 4 << 20

    private var bytes: [UInt8] = []
    private var depth = 0
    private var isInText = false
    private var isEscaped = false

    /// Whether a text has keys of the objects.
    static func hasKeys(_ text: String) -> Bool {
        ["\"eventMessage\"", "\"processImagePath\"", "\"machTimestamp\""].contains { text.contains($0) }
    }

    /// Whether a file's beginning has messages of Core Data's as objects.
    static func areIn(_ head: String) -> Bool {
        head.contains("\"eventMessage\"") && (head.contains("com.apple.coredata") || head.contains("CoreData: "))
    }

    /// Takes in a line, and gives the objects that it completes.
    mutating func take(_ line: UnsafeRawBufferPointer) -> [[UInt8]] {
        var objects: [[UInt8]] = []
        for byte in line {
            // Between objects stand brackets and commas.
            if depth == 0 {
                guard byte == UInt8(ascii: "{") else { continue }
                (bytes, isInText, isEscaped) = ([], false, false)
            }
            if bytes.count < Self.maximumLength { bytes.append(byte) }
            if isEscaped {
                isEscaped = false
            } else if isInText {
                isEscaped = byte == UInt8(ascii: "\\")
                isInText = byte != UInt8(ascii: "\"")
            } else if byte == UInt8(ascii: "\"") {
                isInText = true
            } else if byte == UInt8(ascii: "{") {
                depth += 1
            } else if byte == UInt8(ascii: "}") {
                depth -= 1
                if depth == 0 { objects.append(bytes) }
            }
        }
        // No text of JSON goes on in the next line: a file that is damaged there begins anew.
        if isInText { (depth, isInText) = (0, false) }
        return objects
    }
}
