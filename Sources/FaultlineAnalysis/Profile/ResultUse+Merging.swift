extension ResultUse: Summed, StartsEmpty {
    static let parts: [SumPart<ResultUse>] = [
        .sum("executions", \.executions), .sum("untouched", \.untouched), .sum("rows", \.rows),
        .sum("limitedExecutions", \.limitedExecutions), .sum("loadedRows", \.loadedRows),
        .sum("touchedRows", \.touchedRows), .sum("batchesLoaded", \.batchesLoaded),
        .sum("countAsked", \.countAsked), .sum("emptinessAsked", \.emptinessAsked),
        .sum("modifiedRows", \.modifiedRows), .sum("bytes", \.bytes), .sum("runsLost", \.runsLost),
        .sum("materialised", \.materialised), .sum("materialisedRows", \.materialisedRows),
        .sum("materialisedRowsRead", \.materialisedRowsRead), .sum("loads", \.loads),
        .sum("mainThreadLoads", \.mainThreadLoads), .sum("openExecutions", \.openExecutions),
        .maximum("maximumRows", \.maximumRows), .part("windows", \.windows), .part("loadings", \.loadings),
        .part("loadSites", \.loadSites), .part("loadScopes", \.loadScopes), .part("needs", \.needs),
    ]
}

extension ResultUse.Loading: Summed, StartsEmpty {
    static let parts: [SumPart<ResultUse.Loading>] = [
        .sum("batches", \.batches), .sum("rows", \.rows),
    ]
}

extension ResultTally: Summed, StartsEmpty {
    static let parts: [SumPart<ResultTally>] = [
        .sum("executions", \.executions), .sum("rows", \.rows), .sum("touchedRows", \.touchedRows),
        .sum("bytes", \.bytes), .sum("time", \.time), .sum("counted", \.counted),
        .maximum("mostTouched", \.mostTouched), .part("written", \.written),
    ]
}
