public import FaultlineTrace

/// A sentence, or a part of one, in pieces that keep what they stand for.
///
/// A rule writes an ordinary string, and labels each part that is more than text:
///
///     "Prefetch \(quoted: path) with the fetch of \(entity: name): \(trips: saved) and \(duration: time) less"
///
/// ``text`` is the plain sentence. Other formats set each piece in their own way, for example a call site as a link.
/// Adjacent texts are one piece, and no piece is empty, so that sentences that were put together in different ways are
/// equal.
public struct Wording: Sendable, Hashable {
    /// A part of a sentence.
    public enum Piece: Sendable, Hashable {
        /// Words.
        case text(String)
        /// Code, SQL, or a name that the program or its store gives, such as that of a scope.
        ///
        /// In plain text it stands in double quotes if `isQuoted`, and as it is otherwise.
        case code(String, isQuoted: Bool)
        /// The name of an entity.
        case entity(String)
        /// The name of a property, or a key path.
        ///
        /// In plain text it stands in double quotes if `isQuoted`, and as it is otherwise.
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

    /// The pieces in their order.
    public private(set) var pieces: [Piece] = []

    /// Creates a wording of one text.
    public init(_ text: String) { append(.text(text)) }

    /// Creates a wording of pieces.
    public init(_ pieces: some Sequence<Piece>) {
        for piece in pieces { append(piece) }
    }

    /// The plain sentence: the texts of all pieces, without markup.
    ///
    /// - Complexity: Linear in the length of the text, which is put together at each call.
    public var text: String {
        if pieces.count == 1, case .text(let text) = pieces[0] { return text }
        return pieces.reduce(into: "") { $0 += $1.text }
    }

    /// Whether there is nothing to read.
    public var isEmpty: Bool { pieces.isEmpty }

    /// The numbers of the sentence, in their order.
    public var quantities: [Quantity] {
        pieces.compactMap { if case .quantity(let quantity) = $0 { quantity } else { nil } }
    }

    /// Appends a piece; an empty text adds nothing.
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

    /// Returns one wording after the other.
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
    /// Joins wordings to one.
    ///
    /// - Parameter separator: The wording between two neighbours. Default: none.
    public func joined(separator: Wording = "") -> Wording {
        var joined: Wording = ""
        for (place, wording) in enumerated() {
            if place > 0 { joined += separator }
            joined += wording
        }
        return joined
    }
}

extension Wording {
    /// The names of properties as a list: `title, composer`.
    package static func properties(_ names: some Sequence<String>) -> Wording {
        names.map { "\(property: $0)" as Wording }.joined(separator: ", ")
    }
}
