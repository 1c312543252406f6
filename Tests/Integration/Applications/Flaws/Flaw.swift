/// A flaw that one rule detects in the flawed form of a scenario, but not in the repaired form.
public struct Flaw: Sendable, Hashable, CustomStringConvertible {
    /// The program, which is the name of its folder as well.
    public var application: String
    /// The name of the scenario.
    public var scenario: String
    /// The rule that detects it.
    public var rule: String
    /// The finding's title, with `…` for what is not the same in each run, such as a size that was measured.
    public var title: String
    /// The lines that the finding says to write; `nil`: not compared.
    public var code: [String]?
    /// A part of the line to change, usually the comment at its end.
    public var line: String
    /// The file with the line to change.
    public var file: String
    /// Whether the finding may be a note in one run and a warning in the next: what it saves is close to a threshold.
    public var mayBeNote: Bool
    /// Warnings and errors of other rules that the flawed form rightly has as well.
    public var others: Set<String>
    /// Thresholds for the report, as its `--thresholds` reads them; `nil`: those that are in force.
    ///
    /// For a flaw that its time alone makes one: a fast machine takes less.
    public var thresholds: String?

    /// Describes a flaw.
    public init(
        _ application: String, _ scenario: String, _ rule: String, _ title: String, code: [String]? = nil, line: String,
        file: String = "main.swift", mayBeNote: Bool = false, others: Set<String> = [],
        thresholds: String? = nil
    ) {
        self.application = application
        self.scenario = scenario
        self.rule = rule
        self.title = title
        self.code = code
        self.line = line
        self.file = file
        self.mayBeNote = mayBeNote
        self.others = others
        self.thresholds = thresholds
    }

    /// The application, the scenario and the rule.
    public var description: String { "\(application), \(scenario): \(rule)" }

    /// Whether a finding is the one that the flaw is known by.
    public func isShown(by rule: String, _ title: String) -> Bool {
        guard rule == self.rule, let place = self.title.firstIndex(of: "…") else {
            return rule == self.rule && title == self.title
        }
        let (before, behind) = (self.title[..<place], self.title[self.title.index(after: place)...])
        return title.count > before.count + behind.count && title.hasPrefix(before) && title.hasSuffix(behind)
    }

    /// Thresholds for a prefetch that a busy machine makes a small part of its fetch.
    static let anyPrefetch = #"{"R20": {"minimumTimeShare": "1 %"}}"#

    /// The flaws of all applications.
    public static var all: [Flaw] {
        [
            bookings, chat, contacts, feed, fitness, importer, inventory, kanban, ledger, mail, news, notes, photos,
            recipes,
            sync, timetable,
        ].flatMap(\.self)
    }
}
