internal import Foundation

/// A member that occurs twice in one JSON object.
///
/// `JSONSerialization` silently keeps one of the two. The other could be a limit that never fails.
enum RepeatedMember {
    /// An object or an array whose end has not been reached.
    private struct Open {
        /// The names of the members read so far, or `nil` for an array.
        var names: Set<String>?
        /// The name of the current member, or the index of the current element.
        var current = ""
        var elements = 0
        /// Whether the next string is a member's name.
        var isBeforeName: Bool
    }

    /// Returns the path from the root to the first repeated member, such as `["scopes", "list"]`, or `nil` if there is
    /// none.
    ///
    /// - Parameter json: Valid JSON.
    static func first(in json: Data) -> [String]? {
        var open: [Open] = []
        let bytes = [UInt8](json)
        var position = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "{"): open.append(Open(names: [], isBeforeName: true))
            case UInt8(ascii: "["): open.append(Open(names: nil, current: "0", isBeforeName: false))
            case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = open.popLast()
            case UInt8(ascii: ","):
                guard !open.isEmpty else { break }
                let last = open.count - 1
                open[last].elements += 1
                open[last].isBeforeName = open[last].names != nil
                if open[last].names == nil { open[last].current = String(open[last].elements) }
            case UInt8(ascii: "\""):
                let end = endOfText(bytes, from: position)
                if let last = open.indices.last, open[last].isBeforeName {
                    let name = text(bytes[position..<end])
                    open[last].current = name
                    open[last].isBeforeName = false
                    if open[last].names?.insert(name).inserted == false { return open.map(\.current) }
                }
                position = end - 1
            default: break
            }
            position += 1
        }
        return nil
    }

    /// Returns the position after the closing quote of the string that begins at `start`.
    private static func endOfText(_ bytes: [UInt8], from start: Int) -> Int {
        var position = start + 1
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        return min(position + 1, bytes.count)
    }

    /// Decodes a string: removes its quotes and escapes.
    private static func text(_ quoted: ArraySlice<UInt8>) -> String {
        let value = try? JSONSerialization.jsonObject(with: Data(quoted), options: .fragmentsAllowed)
        return value as? String ?? String(decoding: quoted, as: UTF8.self)
    }
}
