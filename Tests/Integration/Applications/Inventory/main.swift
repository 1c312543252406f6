// The stock of four warehouses, at which several contexts work at a time, in two forms: flawed and repaired.
//
//     Inventory <store> flawed|repaired prepare
//     Inventory <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineRecorder
import FaultlineStore
import Foundation

let application = Application()
let container = try application.container(
    "Inventory", makeModel(isFlawed: application.isFlawed), classes: classes)
if application.isPreparing {
    let context = container.newBackgroundContext()
    try context.performAndWait { try fill(context) }
}
let stock = Stock(container: container, isFlawed: application.isFlawed)
let counter = Counter(container: container, isFlawed: application.isFlawed)
for scenario in application.scenarios {
    switch scenario {
    case "deliveries": try stock.deliver()
    case "journal": try stock.writeJournal()
    case "empty": try stock.findNearlyEmpty()
    case "stocktaking": try stock.takeStock()
    case "counts": try stock.enterCounts()
    case "labels": try stock.printLabels()
    case "worth": try stock.addUp()
    case "till": try counter.sellMeanwhile()
    case "archive": try await counter.archive()
    case "turnover": try await counter.showTurnover()
    default: fatalError("There is no scenario \(scenario).")
    }
}
