import FaultlineAnalysis
import FaultlineTrace

extension Profile {
    init(_ messages: [TraceMessage]) {
        self.init()
        for message in messages { add(message) }
    }
}
