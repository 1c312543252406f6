import FaultlineFindings
import FaultlineReport

/// A diagnosis as text for a terminal: a line for each subject, then what to do, then what to install.
///
///       ✓ clock            tsc, 44 ns a read
struct DoctorText {
    let diagnosis: Doctor.Diagnosis

    /// The width of a subject's name, in columns.
    private static let nameWidth = 16

    /// Returns the text, with a trailing line feed.
    ///
    /// - Parameters:
    ///   - width: The maximum number of characters in a line, limited to 80–100. The last line, a command to copy, is
    ///     never wrapped.
    ///   - colour: Whether to colour the text for a terminal.
    func render(width: Int, colour: Bool) -> String {
        let ink = Ink(isColoured: colour)
        let width = TextPage.width(width)
        var sections = [
            Phrase.wrapped("faultline doctor: \(diagnosis.machine.description)", width: width).map { ink(.bold, $0) }
        ]
        for group in diagnosis.groups {
            sections.append(
                [ink(.bold, TextTable.shortened(group.name, to: width))] + group.checks.map { line($0, ink, width) })
        }
        sections += [remedies(ink, width), verdict(ink, width), installation(ink, width)]
        return TextPage.joined(sections, ink)
    }

    private static func mark(_ check: Check, _ ink: Ink) -> String {
        switch check.state {
        case .ok: ink(.green, "✓")
        case .warning: ink(.yellow, "!")
        case .missing: check.subject.isEssential ? ink(.red, "✗") : ink(.dim, "–")
        case .failed: ink(.red, "✗")
        }
    }

    private func line(_ check: Check, _ ink: Ink, _ width: Int) -> String {
        let name = check.subject.name
        let gap = String(repeating: " ", count: max(1, Self.nameWidth + 1 - name.count))
        let room = width - 4 - name.count - gap.count
        let found = TextTable.shortened(Phrase.printable(check.found), to: room)
        return "  \(Self.mark(check, ink)) \(name)\(gap)\(check.state == .missing ? ink(.dim, found) : found)"
    }

    private func remedies(_ ink: Ink, _ width: Int) -> [String] {
        let checks = diagnosis.groups.flatMap(\.checks).filter { $0.state != .ok && !$0.remedy.isEmpty }
        guard !checks.isEmpty else { return [] }
        return [ink(.bold, "What to do")]
            + checks.flatMap { check in
                let name = check.subject.name + ":"
                let words = "\(name) \(check.subject.why) \(check.remedy)"
                var lines = Phrase.wrapped(words, width: width - 4).enumerated().map { index, line in
                    guard index == 0, line.hasPrefix(name) else { return "    " + line }
                    return "  \(Self.mark(check, ink)) \(ink(.bold, name))\(line.dropFirst(name.count))"
                }
                // Not wrapped, so it can be copied.
                if !check.command.isEmpty { lines.append("    → " + ink(.green, check.command)) }
                return lines
            }
    }

    private func verdict(_ ink: Ink, _ width: Int) -> [String] {
        let obstacles = diagnosis.obstacles
        guard !obstacles.isEmpty else { return [ink(.green, "Everything that a recording needs works here.")] }
        let names = obstacles.map(\.subject.name).joined(separator: ", ")
        return Phrase.wrapped("Recording does not work here: see \(names).", width: width).map { ink(.red, $0) }
    }

    private func installation(_ ink: Ink, _ width: Int) -> [String] {
        let installation = diagnosis.installation
        if let command = installation.command { return ["To install what is missing:", ink(.bold, command)] }
        guard !installation.packages.isEmpty else { return ["No package is missing."] }
        return Phrase.wrapped(
            "To install what is missing, find this distribution's names of these Debian packages:", width: width)
            + [ink(.bold, installation.packages.joined(separator: " "))]
    }
}
