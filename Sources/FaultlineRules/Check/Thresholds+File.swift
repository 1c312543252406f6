internal import FaultlineFindings
public import FaultlineProfile
public import Foundation

extension Thresholds {
    /// Reads a thresholds file.
    ///
    /// - Throws: ``BudgetError`` if the data is not JSON, has an unknown member, or has a value of the wrong type.
    ///   Without this error, a mistyped threshold would have no effect.
    public init(json data: Data) throws(BudgetError) {
        self.init()
        try BudgetError.reading(data) { file in
            let all = Self.all
            try file.expectMembers(all.map(\.rule).uniqued)
            for rule in try file.memberNames() {
                let known = all.filter { $0.rule == rule }
                try file.member(rule) { settings in
                    try settings.expectMembers(known.map(\.name))
                    for threshold in known {
                        try settings.member(threshold.name) { value in
                            if value != .none { self[threshold] = try value.amount(of: threshold.unit) }
                        }
                    }
                }
            }
        }
    }
}
