package import FaultlineProfile
package import FaultlineTrace

/// A sentence, or a part of one, made of pieces that keep their meaning.
///
/// A rule writes an ordinary string, and labels each part that is more than text:
///
///     "Prefetch \(quoted: path) with the fetch of \(entity: name): \(trips: saved) and \(duration: time) less"
///
/// ``text`` is the plain sentence. Other formats render each piece in their own way, for example a call site as a link.
/// Adjacent texts are merged into one piece, and no piece is empty, so equal sentences compare equal however they were
/// built.
package struct Wording: Sendable, Hashable {
    /// A part of a sentence.
    package enum Piece: Sendable, Hashable {
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
        package var text: String {
            switch self {
            case .text(let text), .entity(let text): text
            case .code(let text, let isQuoted), .property(let text, let isQuoted): isQuoted ? "\"\(text)\"" : text
            case .site(let site): site.description
            case .quantity(let quantity): quantity.text
            }
        }
    }

    /// The pieces in order.
    package private(set) var pieces: [Piece] = []

    /// Creates a wording from plain text.
    package init(_ text: String) { append(.text(text)) }

    /// Creates a wording from pieces.
    package init(_ pieces: some Sequence<Piece>) {
        for piece in pieces { append(piece) }
    }

    /// The plain text of all pieces, without markup.
    ///
    /// - Complexity: O(n) in the length of the text, which is built at each call.
    package var text: String {
        if pieces.count == 1, case .text(let text) = pieces[0] { return text }
        return pieces.reduce(into: "") { $0 += $1.text }
    }

    /// Whether the wording has no pieces.
    package var isEmpty: Bool { pieces.isEmpty }

    /// The quantities in the sentence, in order.
    package var quantities: [Quantity] {
        pieces.compactMap { if case .quantity(let quantity) = $0 { quantity } else { nil } }
    }

    /// Appends a piece.
    ///
    /// An empty text adds nothing.
    package mutating func append(_ piece: Piece) {
        guard case .text(let text) = piece else { return pieces.append(piece) }
        guard !text.isEmpty else { return }
        if case .text(let before) = pieces.last {
            pieces[pieces.count - 1] = .text(before + text)
        } else {
            pieces.append(piece)
        }
    }

    /// Appends the pieces of another wording.
    package static func += (left: inout Wording, right: Wording) {
        for piece in right.pieces { left.append(piece) }
    }

    /// Returns the concatenation of two wordings.
    package static func + (left: Wording, right: Wording) -> Wording {
        var both = left
        both += right
        return both
    }
}

extension Wording: CustomStringConvertible {
    /// The same as ``text``.
    package var description: String { text }
}

extension Sequence<Wording> {
    /// Joins wordings into one.
    ///
    /// - Parameter separator: The wording between neighbours. The default is empty.
    package func joined(separator: Wording = "") -> Wording {
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

extension Wording: ExpressibleByStringInterpolation {
    /// Creates a wording from plain text.
    package init(stringLiteral text: String) { self.init(text) }

    /// Creates a wording from an interpolated string.
    package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.wording }

    /// Collects the pieces of an interpolated string.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var wording: Wording = Wording([])

        /// Creates an empty interpolation.
        package init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends the literal text between interpolations.
        package mutating func appendLiteral(_ literal: String) { wording.append(.text(literal)) }

        /// Appends text.
        package mutating func appendInterpolation(_ text: String) { wording.append(.text(text)) }

        /// Appends the pieces of another wording.
        package mutating func appendInterpolation(_ other: Wording) { wording += other }

        /// Appends code, SQL or an identifier.
        package mutating func appendInterpolation(code: String) { wording.append(.code(code, isQuoted: false)) }

        /// Appends an entity's name.
        package mutating func appendInterpolation(entity: String) { wording.append(.entity(entity)) }

        /// Appends a property's name or a key path.
        package mutating func appendInterpolation(property: String) {
            wording.append(.property(property, isQuoted: false))
        }

        /// Appends a property's name or a key path, in double quotes in plain text.
        package mutating func appendInterpolation(quoted property: String) {
            wording.append(.property(property, isQuoted: true))
        }

        /// Appends the name of a scope, in double quotes in plain text.
        package mutating func appendInterpolation(scope: String) { wording.append(.code(scope, isQuoted: true)) }

        /// Appends a line of the program.
        package mutating func appendInterpolation(site: CallSite) { wording.append(.site(site)) }
    }
}

// MARK: - Numbers

extension Wording.StringInterpolation {
    /// Appends a count without a noun: `1,204`.
    ///
    /// - Parameter unit: The unit of the number. Default: a count.
    package mutating func appendInterpolation(count number: some BinaryInteger, of unit: Evidence.Unit = .count) {
        wording.append(.quantity(Quantity(number, unit)))
    }

    /// Appends a count with its noun: `1 fetch`, `20 fetches`.
    ///
    /// - Parameter plural: The noun's plural. The default adds an s.
    package mutating func appendInterpolation(
        count number: some BinaryInteger, _ noun: String, plural: String? = nil
    ) {
        wording.append(.quantity(Quantity(number, .count, noun, plural: plural)))
    }

    /// Appends a number of rows: `20 rows`.
    ///
    /// - Parameter noun: The noun in the singular, such as `"loaded row"`.
    package mutating func appendInterpolation(rows number: some BinaryInteger, _ noun: String = "row") {
        wording.append(.quantity(Quantity(number, .rows, noun)))
    }

    /// Appends a number of round trips: `3 trips`.
    ///
    /// - Parameter noun: The noun in the singular, such as `"round trip"`.
    package mutating func appendInterpolation(trips number: some BinaryInteger, _ noun: String = "trip") {
        wording.append(.quantity(Quantity(number, .trips, noun)))
    }

    /// Appends a whole number without separators, as in code: `1500`.
    package mutating func appendInterpolation(plain number: UInt64, of unit: Evidence.Unit = .count) {
        wording.append(.quantity(Quantity(.whole(number), unit, style: .plain)))
    }

    /// Appends a number with a fixed number of decimals: `2.5`.
    package mutating func appendInterpolation(decimal number: Double, places: Int, of unit: Evidence.Unit = .count) {
        wording.append(.quantity(Quantity(.real(number), unit, style: .decimal(places: places))))
    }

    /// Appends a time in nanoseconds: `12.3 ms`.
    package mutating func appendInterpolation(duration nanoseconds: Double) {
        wording.append(.quantity(Quantity(.real(nanoseconds), .nanoseconds)))
    }

    /// Appends a time in nanoseconds: `12.3 ms`.
    package mutating func appendInterpolation(duration nanoseconds: UInt64) {
        wording.append(.quantity(Quantity(.whole(nanoseconds), .nanoseconds)))
    }

    /// Appends a time with its range: `12.3 ms (11.8–12.9 ms)`.
    package mutating func appendInterpolation(duration range: Saving.Range) {
        wording.append(.quantity(Quantity(.real(range.median), .nanoseconds, range: range)))
    }

    /// Appends the range of a time: `11.8–12.9 ms`.
    package mutating func appendInterpolation(span range: Saving.Range) {
        wording.append(.quantity(Quantity(.real(range.median), .nanoseconds, range: range, style: .span)))
    }

    /// Appends a size in bytes: `18.5 KiB`.
    package mutating func appendInterpolation(size bytes: Double) {
        wording.append(.quantity(Quantity(.real(bytes), .bytes)))
    }

    /// Appends a size in bytes: `18.5 KiB`.
    package mutating func appendInterpolation(size bytes: UInt64) {
        wording.append(.quantity(Quantity(.whole(bytes), .bytes)))
    }

    /// Appends a share from 0 to 1 as a percentage: `41 %`.
    package mutating func appendInterpolation(percent share: Double) {
        wording.append(.quantity(Quantity(.real(share), .share)))
    }

    /// Appends the value of a threshold in force, as written in a thresholds file: `16 ms`.
    package mutating func appendInterpolation(threshold: Threshold) {
        let unit: Evidence.Unit =
            switch threshold.unit {
            case .count, .factor: .count
            case .time: .nanoseconds
            case .size: .bytes
            case .share: .share
            }
        wording.append(.quantity(Quantity(.real(threshold.value), unit, style: .setting(threshold.unit))))
    }
}
