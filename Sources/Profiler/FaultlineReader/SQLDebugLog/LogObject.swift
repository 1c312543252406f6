import Foundation

/// Splits the JSON of `log show --style json` and `--style ndjson` into its objects, one per message.
///
///     {"timestamp":"2022-11-05 10:12:31.123456+0100","subsystem":"com.apple.coredata","category":"sql",
///      "eventMessage":"SELECT …","processImagePath":"/…/App","processID":4711,"threadID":7982}
struct LogObject {
    /// The contents of an object.
    struct Message {
        var text = ""
        /// The category of a message of Core Data; empty for other subsystems.
        var category: Substring = ""
        var writer = SQLDebugLine.Writer()
        var program: Substring = ""
        var time: UInt64?

        /// - Returns: `nil` if the text is not a JSON object.
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

    /// The maximum length of an object in bytes.
    private static let maximumLength = 4 << 20

    private var bytes: [UInt8] = []
    private var depth = 0
    private var isInText = false
    private var isEscaped = false

    /// Whether a text contains keys of these objects.
    static func hasKeys(_ text: String) -> Bool {
        ["\"eventMessage\"", "\"processImagePath\"", "\"machTimestamp\""].contains { text.contains($0) }
    }

    /// Whether the beginning of a file contains Core Data's messages as objects.
    static func areIn(_ head: [UInt8]) -> Bool {
        head.withUnsafeBufferPointer { bytes in
            bytes.position(of: "\"eventMessage\"") != nil
                && (bytes.position(of: "com.apple.coredata") ?? bytes.position(of: "CoreData: ")) != nil
        }
    }

    /// Adds a line, and returns the objects that it completes.
    mutating func take(_ line: UnsafeRawBufferPointer) -> [[UInt8]] {
        var objects: [[UInt8]] = []
        for byte in line {
            // Between objects there are only brackets and commas.
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
        // JSON strings do not span lines, so a damaged file starts over at the next one.
        if isInText { (depth, isInText) = (0, false) }
        return objects
    }
}
