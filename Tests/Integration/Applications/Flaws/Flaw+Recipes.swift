extension Flaw {
    /// A cookbook with a plan of meals.
    static let recipes = [
        Flaw(
            "Recipes", "shopping", "R01", "Prefetch Recipe.ingredients with the fetch of Meal",
            line: "// the planned meals"),
        Flaw(
            "Recipes", "pantry", "R04", "Count Ingredient for all values of name at once, in one grouped fetch",
            line: "// one thing that is left", others: ["R06"]),
        Flaw(
            "Recipes", "meatless", "R01", #"Prefetch "tags" with the fetch of Recipe"#, line: "// picked by tag",
            others: ["R03", "R14"]),
        Flaw(
            "Recipes", "typed", "R08", "Search Recipe.title by the beginnings of its words, not with CONTAINS[cd]",
            line: "// typed so far"),
        Flaw("Recipes", "cooked", "R10", "Save Recipe once, after all changes", line: "// one more time"),
        Flaw(
            "Recipes", "printed", "R03", "Keep Recipe.steps out of the rows that this fetch loads",
            line: "// the table of contents"),
        Flaw(
            "Recipes", "cloud", "R01", "Count Tag.recipes for all objects at once: the members are never read",
            line: "// the cloud"),
    ]
}
