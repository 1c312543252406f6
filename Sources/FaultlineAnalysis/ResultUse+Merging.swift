extension ResultUse {
    mutating func merge(_ other: ResultUse) {
        executions &+= other.executions
        untouched &+= other.untouched
        rows &+= other.rows
        maximumRows = max(maximumRows, other.maximumRows)
        limitedExecutions &+= other.limitedExecutions
        loadedRows &+= other.loadedRows
        touchedRows &+= other.touchedRows
        batchesLoaded &+= other.batchesLoaded
        countAsked &+= other.countAsked
        emptinessAsked &+= other.emptinessAsked
        modifiedRows &+= other.modifiedRows
        bytes &+= other.bytes
        runsLost &+= other.runsLost
        materialised &+= other.materialised
        materialisedRows &+= other.materialisedRows
        materialisedRowsRead &+= other.materialisedRowsRead
        loads &+= other.loads
        mainThreadLoads &+= other.mainThreadLoads
        openExecutions &+= other.openExecutions
        for (need, tally) in other.needs { needs[need, default: ResultTally()].merge(tally) }
        loadSites.merge(other.loadSites, uniquingKeysWith: +)
        loadScopes.merge(other.loadScopes, uniquingKeysWith: +)
        for (kind, widths) in other.windows { windows[kind, default: [:]].merge(widths, uniquingKeysWith: +) }
        for (size, loading) in other.loadings {
            loadings[size, default: Loading()].batches &+= loading.batches
            loadings[size, default: Loading()].rows &+= loading.rows
        }
    }
}
