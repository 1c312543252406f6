import FaultlineModel
import Testing

@Suite("The expression of a mapping")
struct MappingExpressionTests {
    @Test(
        "is printed as it was written",
        arguments: [
            "$source", "$source.name", "$source.continent.numericISO3166Code",
            "$source.countries.@distinctUnionOfSets.moods", "2", "-3", "2.5", "\"text\"", "\"a \\\"b\\\" \\\\ c\"",
            "YES",
            "nil", "CAST(\"NSDate\", \"Class\")", "FUNCTION(CAST(\"NSDate\", \"Class\"), \"date\")",
            "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\", \"PersonToPerson\", $source.owner)",
            "FUNCTION($entityPolicy, \"titleForBook:manager:\", $source.title, $manager)",
            "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\", \"Car\", \"TRUEPREDICATE\"), $manager.sourceContext, NO)",
        ])
    func roundTrip(_ text: String) throws {
        #expect(try MappingExpression(format: text).description == text)
    }

    @Test("may have spaces, single quotes and other words for constants")
    func spelling() throws {
        #expect(try MappingExpression(format: " $source . name ") == .source("name"))
        #expect(
            try MappingExpression(format: "FUNCTION( $source ,'valueForKey:' , 'name' )")
                == .function(.variable(.source), selector: "valueForKey:", [.constant("name")]))
        #expect(try MappingExpression(format: "true") == .constant(true))
        #expect(try MappingExpression(format: "NULL") == .constant(nil))
    }

    @Test(
        "is refused at the place of the error",
        arguments: [
            ("", "its end", "a value"),
            (
                "$sauce.name", "'sauce.name'",
                "one of '$manager', '$source', '$destination', '$entityMapping', '$propertyMapping', '$entityPolicy'"
            ),
            ("$source.", "its end", "a name"), ("$source name", "'name'", "an operator or the end"),
            ("FUNCTION($manager)", "')'", "','"), ("FUNCTION($manager, x)", "'x)'", "a text in quotes"),
            ("\"open", "its end", "the quote that ends the text"),
            ("name", "'name'", "a variable, a constant, FUNCTION, CAST or FETCH"),
            ("1.2.3", "'1.2.3'", "a number"), ("FETCH($manager, $manager, 3)", "its end", "YES or NO"),
        ])
    func refused(_ text: String, _ place: String, _ expected: String) {
        let error = #expect(throws: ModelError.self) { try MappingExpression(format: text) }
        #expect(
            error?.message
                == "The expression '\(text)' of a mapping is invalid at \(place), where \(expected) was expected; correct it."
        )
        #expect(error?.code == .invalidExpression)
    }

    @Test("ends at a depth that no expression has")
    func depth() {
        let text = String(repeating: "CAST(", count: 10_000)
        #expect(throws: ModelError.self) { try MappingExpression(format: text) }
    }
}
