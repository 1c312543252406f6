import FaultlineTrace
import Testing

@Suite("The text of a fetch's change")
struct FetchChangeTests {
    @Test(arguments: [
        ("batch=15", FetchChange(batchSize: 15)), ("batch=0 limit=20", FetchChange(batchSize: 0, limit: 20)),
        ("prefetch=location,shop.place", FetchChange(prefetch: ["location", "shop.place"])),
        ("prefetch=unit,-photo", FetchChange(prefetch: ["unit"], withoutPrefetch: ["photo"])),
        ("properties=name,price", FetchChange(properties: ["name", "price"])),
        ("ids", FetchChange(readsIdentitiesOnly: true)),
        (
            "batch=5 limit=7 prefetch=a,-b properties=c ids",
            FetchChange(
                batchSize: 5, limit: 7, prefetch: ["a"], withoutPrefetch: ["b"], properties: ["c"],
                readsIdentitiesOnly: true)
        ),
    ])
    func `Options are parsed and printed`(_ text: String, _ change: FetchChange) throws {
        #expect(try FetchChange(text) == change)
        #expect(change.description == text)
    }

    @Test func `Options may come in any order, separated by any white space`() throws {
        #expect(try FetchChange("  ids\tlimit=3   batch=2 ").description == "batch=2 limit=3 ids")
    }

    @Test(arguments: [
        ("", "contains no change, such as batch=15 or prefetch=location"),
        ("  ", "contains no change, such as batch=15 or prefetch=location"),
        ("batch", #"has "batch", which is not a number from 0 to 4294967295"#),
        ("batch=", #"has "batch=", which is not a number from 0 to 4294967295"#),
        ("batch=-1", #"has "batch=-1", which is not a number from 0 to 4294967295"#),
        ("limit=4294967296", #"has "limit=4294967296", which is not a number from 0 to 4294967295"#),
        ("prefetch=", #"has "prefetch=", which is not a comma-separated list of key paths"#),
        ("prefetch=a,,b", #"has "prefetch=a,,b", which is not a comma-separated list of key paths"#),
        ("prefetch=-", #"has "prefetch=-", which is not a comma-separated list of key paths"#),
        ("batch=1 batch=2", #"contains "batch" twice"#),
        ("=", #"has "=", which is not one of batch=, limit=, prefetch=, properties= or ids"#),
        ("==3", #"has "==3", which is not one of batch=, limit=, prefetch=, properties= or ids"#),
        ("ids=yes", #"has "ids=yes", which is not one of batch=, limit=, prefetch=, properties= or ids"#),
        ("offset=3", #"has "offset=3", which is not one of batch=, limit=, prefetch=, properties= or ids"#),
    ])
    func `Invalid text throws an error that names the problem`(_ text: String, _ problem: String) {
        #expect { try FetchChange(text) } throws: { ($0 as? FetchChange.Problem)?.description == problem }
    }

    @Test func `Two changes are merged, and the second wins where they conflict`() throws {
        let one = try FetchChange("batch=5 limit=3 prefetch=a,b,-c properties=x")
        let both = one.merging(try FetchChange("batch=7 prefetch=c,-b ids"))
        #expect(both.description == "batch=7 limit=3 prefetch=a,c,-b properties=x ids")
        #expect(FetchChange().merging(one) == one && one.merging(FetchChange()) == one)
    }

    @Test func `Key paths are added to the prefetched ones, and removed from them`() {
        let change = FetchChange(prefetch: ["unit", "list"], withoutPrefetch: ["photo"])
        #expect(change.prefetched(["photo", "list"]) == ["list", "unit"])
    }
}
