// A program that saves, for tests in which several processes use one store, or one of them is killed.
//
//     StoreProgram <store> prepare [<parts>]
//     StoreProgram <store> save <microseconds>     saves over and over, until a timer kills it
//     StoreProgram <store> count <times>           counts up what others count as well
//     StoreProgram <store> hold                    keeps the store locked until it is killed
//     StoreProgram <store> change                  saves once, waiting 50 ms for the lock
//     StoreProgram <store> process <microseconds>  opens it with a newer model, and works on all parts in batches
//     StoreProgram <store> check                   prints what is in the store
//     StoreProgram <store> mistake <number>        makes a mistake that ends it

import FaultlineModel
import Foundation

@testable import FaultlineStore

final class Part: ManagedObject {
    static let amountKey = AttributeKey<Int>("amount")
    static let nameKey = AttributeKey<String>("name")
    static let photoKey = AttributeKey<Data?>("photo")
    static let boxKey = ToOneKey<Box>("box")
}

final class Box: ManagedObject {
    static let numberKey = AttributeKey<Int>("number")
    static let partsKey = ToManyKey<Part>("parts")
}

let entities = [
    EntityDescription(
        "Part",
        attributes: [
            AttributeDescription("name", .string), AttributeDescription("amount", .integer32, defaultValue: 0),
            AttributeDescription("photo", .binary, allowsExternalBinaryDataStorage: true),
        ],
        relationships: [RelationshipDescription("box", to: "Box", inverse: "parts")], uniquenessConstraints: [["name"]]),
    EntityDescription(
        "Box", attributes: [AttributeDescription("number", .integer32, defaultValue: 0)],
        relationships: [
            RelationshipDescription("parts", to: "Part", inverse: "box", isToMany: true, deleteRule: .cascade)
        ]),
]

/// The entities of a newer version of the model.
var newerEntities: [EntityDescription] {
    var newer = entities
    newer[0].attributes.append(AttributeDescription("weight", .integer32))
    return newer
}

func open(
    _ path: String, _ entities: [EntityDescription] = entities, busyTimeout: Double = 30
) throws -> PersistentContainer {
    var description = PersistentStoreDescription(url: URL(fileURLWithPath: path))
    description.synchronization = .normal
    description.externalStorageThreshold = 1000
    description.busyTimeout = busyTimeout
    return try PersistentContainer(
        name: "Parts", managedObjectModel: ManagedObjectModel(entities: entities), storeDescription: description,
        classes: [Part.self, Box.self])
}

func say(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}

func parts(_ context: ManagedObjectContext) throws -> FetchResults<Part> {
    try context.fetch(FetchRequest<Part>(sortDescriptors: [.ascending("name")]))
}

/// One save changes all parts, adds a box with parts, and deletes the one before.
func change(_ context: ManagedObjectContext, to number: Int) throws {
    let photo = Data(repeating: UInt8(number % 251), count: 3000 + number % 1000)
    for part in try parts(context) where part[Part.boxKey] == nil {
        part[Part.amountKey] = number
        part[Part.photoKey] = photo
    }
    for box in try context.fetch(FetchRequest<Box>()) { context.delete(box) }
    let box = Box(context: context)
    box[Box.numberKey] = number
    for place in 0..<5 {
        let part = Part(context: context)
        part[Part.nameKey] = "boxed \(number) \(place)"
        part[Part.amountKey] = number
        box[Box.partsKey].add(part)
    }
    try context.save()
}

/// Kills the program after some microseconds; never if there are none.
///
/// No handler: the signal ends the program wherever it is.
func die(after microseconds: Int) {
    var timer = itimerval()
    timer.it_value.tv_usec = microseconds
    setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
}

/// Does the work after a migration: weighs each part once.
///
/// How far it is goes to the metadata in the same save as the work.
func process(_ container: PersistentContainer) throws {
    let coordinator = container.persistentStoreCoordinator
    let (store, context) = (coordinator.persistentStores[0], container.newBackgroundContext())
    func note(_ key: String, _ value: Int) throws {
        var metadata = store.metadata
        metadata[key] = value
        try coordinator.setMetadata(metadata, for: store)
        try context.save()
    }
    guard store.metadata["PostProcessing"] as? Int ?? 0 < 1 else { return }
    var request = FetchRequest<Part>(sortDescriptors: [.ascending("name")])
    request.fetchLimit = 10
    while true {
        request.fetchOffset = store.metadata["Processed"] as? Int ?? 0
        let batch = try context.fetch(request)
        if batch.isEmpty { break }
        for part in batch {
            part[Part.amountKey] += 1000
            part["weight"] = 5
        }
        try note("Processed", request.fetchOffset + batch.count)
        say("\(request.fetchOffset)")
    }
    try note("PostProcessing", 1)
}

/// Misuses that end the program.
let mistakes: [(_ context: ManagedObjectContext, _ other: ManagedObjectContext) throws -> Void] = [
    { context, _ in Part(context: context)["titel"] = "a" },
    { context, _ in _ = Part(context: context)["titel"] },
    { context, _ in Part(context: context)["amount"] = "many" },
    { context, other in Part(context: context)[Part.boxKey] = Box(context: other) },
    { context, other in Box(context: context)[Box.partsKey].add(Part(context: other)) },
    { context, _ in _ = try context.fetch(FetchRequest<Part>())[1000] },
    { context, _ in _ = Part(context: context)[AttributeKey<Int>("name")] },
    { context, _ in UndoManager().endUndoGrouping() },
]

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { exit(64) }
let path = arguments[1]
let number = arguments.count > 3 ? Int(arguments[3]) ?? 0 : 0

do {
    switch arguments[2] {
    case "prepare":
        let context = try open(path).newBackgroundContext()
        for place in 0..<max(number, 20) { Part(context: context)[Part.nameKey] = "part \(place)" }
        try context.save()
        try change(context, to: 0)
    case "save":
        let context = try open(path).newBackgroundContext()
        let first = (try context.fetch(FetchRequest<Box>()).first?[Box.numberKey] ?? 0) + 1
        die(after: number)
        for next in first... {
            try change(context, to: next)
            say("\(next)")
        }
    case "count":
        let context = try open(path).newBackgroundContext()
        for round in 0..<number {
            while true {
                do {
                    let part = try context.fetch(FetchRequest<Part>(predicate: PropertyPath("name") == "part 0"))[0]
                    part[Part.amountKey] += 1
                    Part(context: context)[Part.nameKey] = "\(getpid()) \(round)"
                    try context.save()
                    break
                } catch let error as StoreError where error.code == .conflict {
                    context.reset()
                }
            }
        }
    case "compute":
        // Uses the CPU for 0.3 s before the store is opened.
        while clock() < 300_000 {}
        say("\(try open(path).newBackgroundContext().count(for: FetchRequest<Part>()))")
    case "hold":
        let container = try open(path)
        try container.persistentStoreCoordinator.run("BEGIN IMMEDIATE")
        say("held")
        while true { pause() }
    case "change":
        let context = try open(path, busyTimeout: 0.05).newBackgroundContext()
        do {
            try change(context, to: 7)
        } catch let error as StoreError {
            say("\(error.code)")
        }
    case "process":
        die(after: number)
        let container = try open(path, newerEntities)
        try process(container)
        say("done \(container.persistentStoreCoordinator.persistentStores[0].metadata["Processed"] ?? 0)")
    case "check":
        let container = try open(path)
        let context = container.newBackgroundContext()
        let loose = try parts(context).filter { $0[Part.boxKey] == nil }
        let boxes = try context.fetch(FetchRequest<Box>())
        var photos: Set<Int> = []
        for part in loose { photos.insert(part[Part.photoKey].map { Int($0[0]) * 10_000 + $0.count } ?? -1) }
        say("loose \(loose.count) amounts \(Set(loose.map { $0[Part.amountKey] }).sorted())")
        say("photos \(photos.sorted())")
        say("boxes \(boxes.map { $0[Box.numberKey] }) parts \(boxes.map { $0[Box.partsKey].count })")
        try context.save()
    case "mistake":
        let (context, other) = (try open(path).newBackgroundContext(), try open(path).newBackgroundContext())
        guard number < mistakes.count else { exit(64) }
        try mistakes[number](context, other)
    default: exit(64)
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
