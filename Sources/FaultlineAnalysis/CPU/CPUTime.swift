public import FaultlineTrace

/// A call path of the program that used CPU time, in one scope.
public struct CPUPath: Sendable, Hashable {
    /// The part of the program whose code ran.
    public var part: CodePart
    /// The scope, or `nil` outside any scope.
    public var scope: ScopeSummary.Key?
    /// The program's own functions, innermost first, without lines: the first one is, or called, the code that ran.
    public var functions: [CallSite]
}

/// The samples of a call path.
public struct CPUTime: Sendable {
    public internal(set) var samples: UInt64 = 0
    /// The CPU time that the samples represent, in nanoseconds.
    public internal(set) var time: UInt64 = 0
}

extension CPUPath: ProfileKey {
    static var hasSpellings: Bool { true }

    var sortText: String {
        ([part.rawValue, scope?.sortText ?? ""] + functions.map(\.sortText)).joined(separator: "\u{2}")
    }

    func stored(_ words: inout ProfileWords) -> StoredValue {
        .list([part.stored(&words), scope.stored(&words)] + functions.map { $0.stored(&words) })
    }

    init(_ value: StoredValue, _ words: ProfileWords) throws {
        let parts = try value.list()
        guard parts.count >= 2 else { throw StoredProblem(expected: "a part, a scope and functions") }
        self.init(
            part: try CodePart(parts[0], words), scope: try ScopeSummary.Key?(parts[1], words),
            functions: try parts.dropFirst(2).map { try CallSite($0, words) })
    }
}

extension CodePart: WordKey {}

extension CPUTime: Summed, StartsEmpty {
    static let parts: [SumPart<CPUTime>] = [.sum("samples", \.samples), .sum("time", \.time)]
}
