import Testing

@testable import FaultlineTrace

@Suite("A function's name contains its module and its kind")
struct FunctionNameTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var symbol: String
        var words: String
        var module: String?
        var property: String?
        var isThunk = false
        var short: String

        init(
            _ symbol: String, _ words: String, _ module: String?, _ short: String, property: String? = nil,
            isThunk: Bool = false
        ) {
            self.symbol = symbol
            self.words = words
            self.module = module
            self.property = property
            self.isThunk = isThunk
            self.short = short
        }

        var testDescription: String { words }
    }

    @Test(
        "Names are parsed as the demangler prints them",
        arguments: [
            Case(
                "$s9Groceries8showList4pageySi_tF", "Groceries.showList(page: Int) -> ()", "Groceries",
                "showList(page:)"),
            Case("$s9Groceries4holdyxxlF", "Groceries.hold<A>(A) -> A", "Groceries", "hold(_:)"),
            Case("$s9Groceries4ItemC1pSiyF", "Groceries.Item.p() -> Int", "Groceries", "p()"),
            Case(
                "$s9Groceries4ItemC4makeyxxlFZ", "static Groceries.Item.make<A>(A, to: (Int) -> B) -> A", "Groceries",
                "make(_:to:)"),
            Case(
                "$s9Groceries4ItemC1nACSi_tcfC", "Groceries.Item.__allocating_init(n: Int) -> Groceries.Item",
                "Groceries", "init(n:)"),
            Case("$s9Groceries4ItemCfD", "Groceries.Item.__deallocating_deinit", "Groceries", "deinit"),
            Case(
                "$s9Groceries4ItemC4eachyyFySiXEfU_", "closure #1 (Int) -> () in Groceries.Item.each() -> ()",
                "Groceries", "each()"),
            Case(
                "$s9Groceries4ItemC5inneryyF5localL_yS2iF", "local #1 (Int) -> Int in Groceries.Item.inner() -> ()",
                "Groceries",
                "local"),
            Case("$s9GroceriesSbSiXEfU_", "closure #1 (Int) -> Bool in Groceries", "Groceries", "Groceries"),
            Case(
                "$s9Groceries4ItemC9asyncWorkSiyYaFTQ0_",
                "(1) await resume partial function for Groceries.Item.asyncWork() async -> Int", "Groceries",
                "asyncWork()"),
            Case(
                "$s9Groceries4ItemC9asyncWorkSiyYaFTY1_",
                "(2) suspend resume partial function for closure #1 () async -> () in Groceries.Item.asyncWork() async -> Int",
                "Groceries", "asyncWork()"),
            Case(
                "$s9Groceries4holdyxxlFSS_Tg5Tf4n_g",
                "function signature specialization <Return = Owned To Guaranteed> of generic specialization <Groceries.Item, Foundation.Date> of Groceries.hold<A>(A) -> A",
                "Groceries", "hold(_:)"),
            Case(
                "$sSa6appendyyxnFxSg_Tg5",
                "generic specialization <Groceries.Item> of Swift.Array.append(__owned A) -> ()", "Swift",
                "append(_:)"),
            Case(
                "$sSa9GroceriesE5mine2SiyF", "(extension in Groceries):Swift.Array.mine2() -> Int", "Groceries",
                "mine2()"),
            Case(
                "$s8Dispatch0A5QueueC9GroceriesE4mineyyF",
                "(extension in Groceries):Dispatch.DispatchQueue.mine() -> ()", "Groceries",
                "mine()"),
            Case(
                "$s9Groceries4ItemC4dfltyS2iFfA_", "default argument 0 of Groceries.Item.dflt(Int) -> Int", "Groceries",
                "dflt(_:)"),
            Case("$s9Groceries4ItemC4once_WZ", "one-time initialization function for once", "Groceries", "once"),
            Case(
                "$s9Groceries4ItemC4nameSSvg", "Groceries.Item.name.getter : String", "Groceries", "name",
                property: "name"),
            Case(
                "$s9Groceries4ItemC4nameSSvM.resume.0",
                "Groceries.Item.name.modify : String with unmangled suffix \".resume.0\"",
                "Groceries", "name", property: "name"),
            Case(
                "$s9Groceries4ItemC4nameSSvr", "Groceries.Item.name.read : String", "Groceries", "name",
                property: "name"),
            Case(
                "$s9Groceries4ItemC4onceSivgZ", "static Groceries.Item.once.setter : Int", "Groceries", "once",
                property: "once"),
            Case(
                "$s9Groceries4ItemC6secret33_83LLSivgSiycfU_",
                "closure #1 () -> Int in Groceries.Item.(secret in _833430818D22B7B0016ABBABC6C98B3A).getter : Int",
                "Groceries",
                "secret", property: "secret"),
            Case(
                "$s9Groceries4mine33_83LLyyF", "Groceries.(mine in _833430818D22B7B0016ABBABC6C98B3A)(page: Int) -> ()",
                "Groceries",
                "mine(page:)"),
            Case(
                "$s9Groceries4ItemCyS2icig", "Groceries.Item.subscript.getter : (Int) -> Int", "Groceries", "subscript",
                property: "subscript"),
            Case(
                "$s9Groceries4ItemC4eachyyFySiXEfU_TA",
                "partial apply forwarder for closure #1 (Int) -> () in Groceries.Item.each() -> ()", "Groceries",
                "each()",
                isThunk: true),
            Case(
                "$s9Groceries4ItemC4nameSSvpACTK", "key path getter for Groceries.Item.name : String : Groceries.Item",
                "Groceries",
                "name", isThunk: true),
            Case(
                "$sIeg_ytIegr_TR", "reabstraction thunk helper from @escaping @callee_guaranteed () -> ()", nil, "",
                isThunk: true),
            Case("main", "main", nil, "main"),
            Case("fl_begin", "fl_begin", nil, "fl_begin"),
            Case("_ZN5swift3fooEi", "swift::foo(int)", nil, "swift::foo(int)"),
        ])
    func names(expected: Case) {
        let name = FunctionName(symbol: expected.symbol, words: expected.words)
        #expect(name.isThunk == expected.isThunk)
        #expect(name.property == expected.property || expected.isThunk)
        if !expected.isThunk {
            #expect(name.module == expected.module)
            #expect(name.short == expected.short)
        }
    }
}
