import FaultlineModel
import FaultlineStore

final class Recipe: ManagedObject {
    static let titleKey = AttributeKey<String>("title")
    static let minutesKey = AttributeKey<Int>("minutes")
    static let timesCookedKey = AttributeKey<Int>("timesCooked")
    static let stepsKey = AttributeKey<String>("steps")
    static let ingredientsKey = ToManyKey<Ingredient>("ingredients")
    static let tagsKey = ToManyKey<Tag>("tags")
    var title: String { self[Self.titleKey] }
    var minutes: Int { self[Self.minutesKey] }
    var ingredients: ToMany<Ingredient> { self[Self.ingredientsKey] }
    var tags: ToMany<Tag> { self[Self.tagsKey] }
}

final class Ingredient: ManagedObject {
    static let nameKey = AttributeKey<String>("name")
    static let gramsKey = AttributeKey<Int>("grams")
    static let recipeKey = ToOneKey<Recipe>("recipe")
    var name: String { self[Self.nameKey] }
    var grams: Int { self[Self.gramsKey] }
}

final class Tag: ManagedObject {
    static let labelKey = AttributeKey<String>("label")
    static let recipesKey = ToManyKey<Recipe>("recipes")
    var label: String { self[Self.labelKey] }
    var recipes: ToMany<Recipe> { self[Self.recipesKey] }
}

final class Meal: ManagedObject {
    static let dayKey = AttributeKey<Int>("day")
    static let recipeKey = ToOneKey<Recipe>("recipe")
    var day: Int { self[Self.dayKey] }
    var recipe: Recipe? { self[Self.recipeKey] }
}

/// - Parameter isIndexed: Whether ingredients can be found by name.
func makeModel(isIndexed: Bool) throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
        EntityDescription(
            "Recipe",
            attributes: [
                AttributeDescription("title", .string, isOptional: false),
                AttributeDescription("minutes", .integer64, isOptional: false),
                AttributeDescription("timesCooked", .integer64, isOptional: false),
                AttributeDescription("steps", .string, isOptional: false),
            ],
            relationships: [
                RelationshipDescription(
                    "ingredients", to: "Ingredient", inverse: "recipe", isToMany: true, deleteRule: .cascade),
                RelationshipDescription("meals", to: "Meal", inverse: "recipe", isToMany: true),
                RelationshipDescription("tags", to: "Tag", inverse: "recipes", isToMany: true),
            ],
            indexes: [FetchIndexDescription("byTitle", on: "title")]),
        EntityDescription(
            "Ingredient",
            attributes: [
                AttributeDescription("name", .string, isOptional: false),
                AttributeDescription("grams", .integer64, isOptional: false),
            ],
            relationships: [RelationshipDescription("recipe", to: "Recipe", inverse: "ingredients")],
            indexes: isIndexed ? [FetchIndexDescription("byName", on: "name")] : []),
        EntityDescription(
            "Tag", attributes: [AttributeDescription("label", .string, isOptional: false)],
            relationships: [RelationshipDescription("recipes", to: "Recipe", inverse: "tags", isToMany: true)]),
        EntityDescription(
            "Meal", attributes: [AttributeDescription("day", .integer64, isOptional: false)],
            relationships: [RelationshipDescription("recipe", to: "Recipe", inverse: "meals")]),
    ])
}

/// Twelve hundred recipes of two kilobytes with six ingredients and three tags each, and a meal for each day of a year.
func fill(_ context: ManagedObjectContext) throws {
    let tags = (0..<30).map { number in
        let tag = Tag(context: context)
        tag[Tag.labelKey] = number == 4 ? "without meat" : "tag \(number)"
        return tag
    }
    let dishes = ["barley", "cabbage", "dumplings", "eggplant", "fennel", "gnocchi"]
    let recipes = (0..<1200).map { number in
        let recipe = Recipe(context: context)
        recipe[Recipe.titleKey] = "\(dishes[number * 7 % dishes.count]) \(number)"
        recipe[Recipe.minutesKey] = 10 + number * 13 % 90
        recipe[Recipe.timesCookedKey] = 0
        recipe[Recipe.stepsKey] = String(repeating: "Wait until step \(number) is done. ", count: 60)
        for place in 0..<6 {
            let ingredient = Ingredient(context: context)
            ingredient[Ingredient.nameKey] = "ingredient \((number * 6 + place) * 31 % 400)"
            ingredient[Ingredient.gramsKey] = 20 + place * 30
            ingredient[Ingredient.recipeKey] = recipe
        }
        for place in 0..<3 { recipe.tags.add(tags[(number + place * 11) % tags.count]) }
        return recipe
    }
    for day in 0..<365 {
        let meal = Meal(context: context)
        meal[Meal.dayKey] = day
        meal[Meal.recipeKey] = recipes[day * 17 % recipes.count]
    }
    try context.save()
}
