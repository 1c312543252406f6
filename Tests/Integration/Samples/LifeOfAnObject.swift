struct Reversed: Error {}
