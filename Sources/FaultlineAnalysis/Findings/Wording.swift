public import FaultlineTrace

/// A sentence, or a part of one, made of pieces that keep their meaning.
///
/// A rule writes an ordinary string, and labels each part that is more than text:
///
///     "Prefetch \(quoted: path) with the fetch of \(entity: name): \(trips: saved) and \(duration: time) less"
///
/// ``text`` is the plain sentence. Other formats render each piece in their own way, for example a call site as a link.
/// Adjacent texts are merged into one piece, and no piece is empty, so equal sentences compare equal however they were
/// built.
public struct Wording: Sendable, Hashable {
    /// A part of a sentence.
    public enum Piece: Sendable, Hashable {
        /// Plain text.
        case text(String)
        /// Code, SQL, or a name from the program or its store, such as a scope's.
        ///
        /// Plain text puts it in double quotes if `isQuoted`.
        case code(String, isQuoted: Bool)
        /// The name of an entity.
        case entity(String)
        /// The name of a property, or a key path.
        ///
        /// Plain text puts it in double quotes if `isQuoted`.
        case property(String, isQuoted: Bool)
        /// A line of the program.
        case site(CallSite)
        /// A number with its unit.
        case quantity(Quantity)

        /// The piece as plain text.
        public var text: String {
            switch self {
            case .text(let text), .entity(let text): text
            case .code(let text, let isQuoted), .property(let text, let isQuoted): isQuoted ? "\"\(text)\"" : text
            case .site(let site): site.description
            case .quantity(let quantity): quantity.text
            }
        }
    }

    /// The pieces in order.
    public private(set) var pieces: [Piece] = []

    /// Creates a wording from plain text.
    public init(_ text: String) { append(.text(text)) }

    /// Creates a wording from pieces.
    public init(_ pieces: some Sequence<Piece>) {
        for piece in pieces { append(piece) }
    }

    /// The plain text of all pieces, without markup.
    ///
    /// - Complexity: O(n) in the length of the text, which is built at each call.
    public var text: String {
        if pieces.count == 1, case .text(let text) = pieces[0] { return text }
        return pieces.reduce(into: "") { $0 += $1.text }
    }

    /// Whether the wording has no pieces.
    public var isEmpty: Bool { pieces.isEmpty }

    /// The quantities in the sentence, in order.
    public var quantities: [Quantity] {
        pieces.compactMap { if case .quantity(let quantity) = $0 { quantity } else { nil } }
    }

    /// Appends a piece.
    ///
    /// An empty text adds nothing.
    public mutating func append(_ piece: Piece) {
        guard case .text(let text) = piece else { return pieces.append(piece) }
        guard !text.isEmpty else { return }
        if case .text(let before) = pieces.last {
            pieces[pieces.count - 1] = .text(before + text)
        } else {
            pieces.append(piece)
        }
    }

    /// Appends the pieces of another wording.
    public static func += (left: inout Wording, right: Wording) {
        for piece in right.pieces { left.append(piece) }
    }

    /// Returns the concatenation of two wordings.
    public static func + (left: Wording, right: Wording) -> Wording {
        var both = left
        both += right
        return both
    }
}

extension Wording: CustomStringConvertible {
    /// The same as ``text``.
    public var description: String { text }
}

extension Sequence<Wording> {
    /// Joins wordings into one.
    ///
    /// - Parameter separator: The wording between neighbours. The default is empty.
    public func joined(separator: Wording = "") -> Wording {
        var joined: Wording = ""
        for (position, wording) in enumerated() {
            if position > 0 { joined += separator }
            joined += wording
        }
        return joined
    }
}

extension Wording {
    /// A list of property names: `title, composer`.
    package static func properties(_ names: some Sequence<String>) -> Wording {
        names.map { "\(property: $0)" as Wording }.joined(separator: ", ")
    }
}
