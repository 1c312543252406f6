// A feed of messages in channels, in two forms: flawed and repaired.
//
//     Feed <store> flawed|repaired prepare [channels] [messages of each]
//     Feed <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineStore

let application = Application()
let container = try application.container(
    "Feed", makeModel(), classes: [Channel.self, Message.self, Member.self])
try application.run(container) { context in
    let sizes = application.sizes
    try fill(context, channels: sizes.first ?? 300, messages: sizes.dropFirst().first ?? 80)
} scenario: { scenario, context in
    try Program(container: container, context: context, isFlawed: application.isFlawed).run(scenario)
}
