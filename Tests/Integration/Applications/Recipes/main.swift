// A cookbook with a plan of meals, in two forms: flawed and repaired.
//
//     Recipes <store> flawed|repaired prepare
//     Recipes <store> flawed|repaired <scenario>…

import ApplicationKit
import FaultlineModel
import FaultlineStore
import FaultlineTrace

struct Program {
    let context: ManagedObjectContext
    let isFlawed: Bool

    func run(_ scenario: String) throws {
        switch scenario {
        case "shopping": try writeShoppingList()
        case "pantry": try searchPantry()
        case "meatless": try listMeatless()
        case "typed": try searchTyped()
        case "cooked": try markCooked()
        case "printed": try printTitles()
        case "cloud": try drawTagCloud()
        default: fatalError("There is no scenario \(scenario).")
        }
    }

    /// What two months of meals need.
    private func writeShoppingList() throws {
        var request = FetchRequest<Meal>(predicate: PropertyPath("day") < 60, sortDescriptors: [.ascending("day")])
        if !isFlawed { request.relationshipKeyPathsForPrefetching = ["recipe.ingredients"] }
        var grams: [String: Int] = [:]
        for meal in try context.fetch(request) {  // the planned meals
            guard let recipe = meal.recipe else { continue }
            for ingredient in recipe.ingredients { grams[ingredient.name, default: 0] += ingredient.grams }
        }
        print(grams.count, grams.values.reduce(0, +))
    }

    /// Counts the recipes for each ingredient in the pantry.
    private func searchPantry() throws {
        let names = (0..<40).map { "ingredient \($0 * 3)" }
        guard isFlawed else {
            let count = ExpressionDescription("count", .function(.count, "self"))
            var request = FetchRequest<Ingredient>(predicate: .isIn("name", names))
            (request.resultType, request.propertiesToFetch) = (.dictionary, ["name", count])
            request.propertiesToGroupBy = ["name"]
            print(try context.fetchDictionaries(request).count)
            return
        }
        for name in names {
            let request = FetchRequest<Ingredient>(predicate: PropertyPath("name") == name)
            print(name, try context.count(for: request))  // one thing that is left
        }
    }

    /// The titles of recipes with a tag.
    private func listMeatless() throws {
        guard isFlawed else {
            var request = FetchRequest<Recipe>(
                predicate: try FetchPredicate(format: "ANY tags.label == %@", "without meat"),
                sortDescriptors: [.ascending("title")])
            request.propertiesToFetch = ["title"]
            print(try context.fetch(request).map(\.title))
            return
        }
        let recipes = try context.fetch(FetchRequest<Recipe>(sortDescriptors: [.ascending("title")]))  // picked by tag
        print(recipes.filter { recipe in recipe.tags.contains { $0.label == "without meat" } }.map(\.title))
    }

    /// Recipes that match what somebody has typed so far.
    private func searchTyped() throws {
        for typed in ["f", "fe", "fen", "fenn", "fenne", "fennel"] {
            let predicate =
                isFlawed
                ? try FetchPredicate(format: "title CONTAINS[cd] %@", typed) : PropertyPath("title").beginsWith(typed)
            var request = FetchRequest<Recipe>(predicate: predicate)
            request.propertiesToFetch = ["title"]
            print(typed, try context.fetch(request).map(\.title))  // typed so far
        }
    }

    /// Notes that many recipes were cooked.
    private func markCooked() throws {
        let request = FetchRequest<Recipe>(sortDescriptors: [.ascending("title")], fetchLimit: 80)
        for recipe in try context.fetch(request) {
            recipe[Recipe.timesCookedKey] += 1
            if isFlawed {
                try context.save()  // one more time
            }
        }
        try context.save()
    }

    /// A table of contents.
    private func printTitles() throws {
        var request = FetchRequest<Recipe>(sortDescriptors: [.ascending("title")], fetchBatchSize: 200)
        if !isFlawed { request.propertiesToFetch = ["title", "minutes"] }
        for recipe in try context.fetch(request) {  // the table of contents
            print(recipe.title, recipe.minutes)
        }
    }

    /// How many recipes each tag has.
    private func drawTagCloud() throws {
        guard isFlawed else {
            var request = FetchRequest<Tag>(sortDescriptors: [.ascending("label")])
            let count = ExpressionDescription("count", .keyPath("recipes.@count"))
            (request.resultType, request.propertiesToFetch) = (.dictionary, ["label", count])
            print(try context.fetchDictionaries(request).count)
            return
        }
        for tag in try context.fetch(FetchRequest<Tag>(sortDescriptors: [.ascending("label")])) {  // the cloud
            print(tag.label, tag.recipes.count)
        }
    }
}

let application = Application()
let container = try application.container(
    "Recipes", makeModel(isIndexed: !application.isFlawed),
    classes: [Recipe.self, Ingredient.self, Tag.self, Meal.self])
try application.run(container, scopes: ["cooked": .bulk, "printed": .bulk], prepare: fill) { scenario, context in
    try Program(context: context, isFlawed: application.isFlawed).run(scenario)
}
