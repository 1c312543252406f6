// A nightly job that reads customers, orders and lines in and writes lists of them, in two forms: flawed and repaired.
//
//     Importer <store> flawed|repaired prepare
//     Importer <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineRecorder
import FaultlineStore
import FaultlineTrace

let application = Application()
let container = try application.container(
    "Importer", makeModel(isFlawed: application.isFlawed),
    classes: [Customer.self, Country.self, Order.self, Line.self])
let bulk = [
    "customers", "unknown", "countries", "orders", "lines", "prices", "codes", "export", "sums", "senders",
]
try application.run(
    container, scopes: Dictionary(uniqueKeysWithValues: bulk.map { ($0, .bulk) }), prepare: fill
) { scenario, context in
    let reading = Reading(context: context, isFlawed: application.isFlawed)
    let writing = Writing(context: context, isFlawed: application.isFlawed)
    switch scenario {
    case "customers": try reading.importCustomers()
    case "unknown": try reading.listUnknown()
    case "countries": try reading.importCountries()
    case "orders": try reading.importOrders()
    case "lines": try reading.importLines()
    case "prices": try reading.updatePrices()
    case "codes": try writing.listCodes()
    case "export": try writing.exportOrders()
    case "dump": try writing.dumpLines()
    case "sums": try writing.addUp()
    case "senders": try writing.findSenders()
    case "report": try writing.report()
    default: fatalError("There is no scenario \(scenario).")
    }
}
