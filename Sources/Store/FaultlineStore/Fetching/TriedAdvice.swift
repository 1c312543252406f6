import FaultlineModel
import FaultlineRecorder
import FaultlineTrace
import Foundation
import Synchronization

/// Advice to try in this program without editing it: `FAULTLINE_TRY=List.swift:42 batch=15`, one piece of advice per
/// line.
///
/// Advice that cannot be applied is reported once on stderr; the program runs on without it.
final class TriedAdvice: Sendable {
    /// The advice that this process should try; `nil` if none, which is the usual case.
    static let ofEnvironment = RecordingVariable.tried.value.map { TriedAdvice($0) }

    let advice: [FetchAdvice]
    private let reported = Mutex<Set<String>>([])

    init(_ text: String) {
        var advice: [FetchAdvice] = []
        var problems: [String] = []
        for line in text.split(whereSeparator: \.isNewline).map(String.init) {
            do {
                advice.append(try FetchAdvice(line))
            } catch {
                problems.append("FAULTLINE_TRY: \"\(line)\" \(error); the advice is ignored.")
            }
        }
        self.advice = advice
        for problem in problems { tell(problem) }
    }

    /// Returns the request with the advice for its line applied.
    func taken<Object: ManagedObject>(
        by request: FetchRequest<Object>, _ model: ModelSchema?, fileID: StaticString, line: UInt
    ) -> FetchRequest<Object> {
        guard let entity = model?.entity(named: request.entityName), let model else { return request }
        var change = FetchChange()
        for advice in advice where advice.isFor("\(fileID)", line: Int(line)) {
            if let problem = Self.problem(advice.change, entity, model) {
                tell("\"\(advice)\" is ignored: \(problem).")
            } else {
                change = change.merging(advice.change)
            }
        }
        return request.changed(by: change)
    }

    /// The reason why a change cannot be applied to a fetch of an entity; `nil` if it can.
    private static func problem(_ change: FetchChange, _ entity: EntitySchema, _ model: ModelSchema) -> String? {
        for keyPath in change.prefetch {
            if let (owner, name) = Prefetch.missingRelationship(in: keyPath, from: entity, model) {
                return "\(owner) has no relationship \"\(name)\""
            }
        }
        for name in change.properties ?? [] {
            guard let property = entity.property(name), !property.isTransient, !property.isToMany else {
                return "\(entity.name) has no stored attribute or to-one relationship \"\(name)\""
            }
        }
        return nil
    }

    private func tell(_ sentence: String) {
        guard reported.withLock({ $0.insert(sentence).inserted }) else { return }
        StandardError.write("faultline: \(sentence)\n")
    }
}
