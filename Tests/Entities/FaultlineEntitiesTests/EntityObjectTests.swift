import FaultlineEntities
import FaultlineRecorder
import FaultlineTrace
import Foundation
import Testing

@Suite("Objects of declared entities")
struct EntityObjectTests {
    @Test("A new object has its initial values, or else zero, empty or nil")
    func defaults() throws {
        let store = try TestStore()
        let car = Car(context: store.context)
        #expect(car.plate == "")
        #expect(car.wheels == 4)
        #expect(car.doors == 5)
        #expect(car.seats == nil)
        #expect(car.mileage == -1)
        #expect(car.power == 0.5)
        #expect(car.price == 100)
        #expect(car.fuel == .petrol)
        #expect(car.wear == nil)
        #expect(car.mood == 7)
        #expect(car.nickname == "none")
        #expect(car.driver == nil)
        #expect(car.garages.isEmpty)
        #expect(car.title == ", 4 wheels")
        #expect(Driver(context: store.context).name == "")
    }

    @Test("A new object has the values passed to its initializer, or else its initial values")
    func memberwise() throws {
        var description = PersistentStoreDescription(url: URL(fileURLWithPath: "/dev/null"))
        description.type = .inMemory
        let container = try PersistentContainer(
            name: "Pantry", entities: Pantry.Item.self, Pantry.Tool.self, storeDescription: description)
        let context = container.newBackgroundContext()
        context.performAndWait {
            let fruit = Pantry.Category(context: context, name: "Fruit")
            let item = Pantry.Item(context: context, name: "Äpfel", price: 2.5, kind: .tool, category: fruit)
            #expect(item.name == "Äpfel" && item.price == 2.5 && item.kind == .tool && item.category === fruit)
            #expect(item.amount == 0 && item.stock == 2 && item.isListed && item.boughtAt == nil && item.tags.isEmpty)
            #expect(Pantry.Tool(context: context, weight: 3).weight == 3)
            #expect(Pantry.Tool(context: context).weight == 1)
        }
    }

    @Test("Values of every type round-trip")
    func values() throws {
        let store = try TestStore()
        let serial = UUID()
        let car = Car(context: store.context, plate: "F 1")
        car.wheels = 3
        car.doors = -7
        car.seats = 70_000
        car.mileage = .max
        car.power = 1.25
        car.torque = 0.5
        car.isSold = true
        car.price = Decimal(string: "19.99")!
        car.builtAt = Date(timeIntervalSinceReferenceDate: 3)
        car.photo = Data(repeating: 3, count: 200_000)
        car.serial = serial
        car.manual = URL(string: "https://example.org/a")
        car.fuel = .electric
        car.wear = .some
        car.mood = 9
        car.looks = 3
        car.nickname = "Ö"
        try store.context.save()
        #expect(car.mood == 9)

        let read = try store.otherContext().fetch(Car.fetchRequest())[0]
        #expect(read.plate == "F 1")
        #expect(read.wheels == 3)
        #expect(read.doors == -7)
        #expect(read.seats == 70_000)
        #expect(read.mileage == .max)
        #expect(read.power == 1.25)
        #expect(read.torque == 0.5)
        #expect(read.isSold)
        #expect(read.price == Decimal(string: "19.99"))
        #expect(read.builtAt == Date(timeIntervalSinceReferenceDate: 3))
        #expect(read.photo == Data(repeating: 3, count: 200_000))
        #expect(read.serial == serial)
        #expect(read.manual == URL(string: "https://example.org/a"))
        #expect(read.fuel == .electric)
        #expect(read.wear == .some)
        #expect(read.looks == 0)
        #expect(read.nickname == "Ö")
        read.seats = nil
        read.wear = nil
        try read.managedObjectContext.save()
        #expect(try store.otherContext().fetch(Car.fetchRequest())[0].seats == nil)
    }

    @Test("An unknown raw value reads as the initial value, or as nil")
    func unknownRawValue() throws {
        let store = try TestStore()
        let car = Car(context: store.context)
        car["fuel"] = "steam"
        car["wear"] = 3
        try store.context.save()
        let read = try store.otherContext().fetch(Car.fetchRequest())[0]
        #expect(read.fuel == .petrol)
        #expect(read.wear == nil)
        #expect(read["fuel"] as? String == "steam")
    }

    @Test("Relationships are maintained at both ends")
    func relationships() throws {
        let store = try TestStore()
        let context = store.context
        let driver = Driver(context: context)
        driver.name = "Ann"
        let student = Driver(context: context)
        student.name = "Ben"
        driver.students.add(student)
        #expect(student.mentor === driver)
        let garage = Garage(context: context)
        let cars = (0..<3).map { Car(context: context, plate: "\($0)") }
        cars[0].driver = driver
        driver.cars.add(cars[1])
        garage.cars.add(contentsOf: cars)
        #expect(cars[1].driver === driver)
        #expect(cars[2].garages.contains(garage))
        let second = Garage(context: context)
        second.number = 2
        second.cars = garage.cars
        try context.save()

        let other = try store.otherContext()
        let read = try other.fetch(FetchRequest<Driver>(predicate: PropertyPath("name") == "Ann"))[0]
        #expect(read.cars.isFault)
        #expect(read.cars.map(\.plate).sorted() == ["0", "1"])
        #expect(read.students.map(\.name) == ["Ben"])
        #expect(try other.fetch(Garage.fetchRequest()).map { $0.cars.count } == [3, 3])
    }

    @Test("A subentity inherits properties, and fetches of its parent include it")
    func inheritance() throws {
        let store = try TestStore()
        let context = store.context
        _ = Car(context: context, plate: "car")
        let sport = SportCar(context: context, plate: "sport")
        sport.wheels = 3
        sport.topSpeed = 300
        let truck = Truck(context: context, plate: "truck")
        truck.load = 7.5
        try context.save()
        #expect(truck.entityName == "Lorry")

        let other = try store.otherContext()
        let all = try other.fetch(FetchRequest<Car>(sortDescriptors: [.ascending("plate")]))
        #expect(all.map { type(of: $0) == SportCar.self } == [false, true, false])
        #expect(all.map(\.wheels) == [4, 3, 4])
        let read = try other.fetch(SportCar.fetchRequest())
        #expect(read.map(\.topSpeed) == [300])
        #expect(try other.fetch(Truck.fetchRequest())[0].load == 7.5)
    }

    @Test("An ordered relationship keeps its order, and its delete rule applies")
    func ordered() throws {
        let store = try TestStore()
        let context = store.context
        let team = Team(context: context)
        team.home = Garage(context: context)
        team.home?.cars.add(Car(context: context, plate: "x"))
        team.cars.add(contentsOf: ["c", "a", "b"].map { SportCar(context: context, plate: $0) })
        try context.save()
        let other = try store.otherContext()
        let read = try other.fetch(Team.fetchRequest())[0]
        #expect(read.cars.map(\.plate) == ["c", "a", "b"])
        read.cars.move(from: 2, to: 0)
        try other.save()
        let third = try store.otherContext()
        let again = try third.fetch(Team.fetchRequest())[0]
        #expect(again.cars.map(\.plate) == ["b", "c", "a"])
        third.delete(again)
        try third.save()
        #expect(try third.fetch(Car.fetchRequest()).map(\.plate) == ["x"])
    }

    @Test("The trace records the line of each property's variable")
    func declaredLines() throws {
        let recorder = Recorder.memory()
        let store = try TestStore(recorder: recorder)
        _ = try store.context.fetch(Garage.fetchRequest())
        let entities = recorder.messages().compactMap { message -> EntityEntry? in
            if case .entry(_, _, .entity(let entity)) = message { entity } else { nil }
        }
        let garage = try #require(entities.first { $0.name == "Garage" })
        #expect(
            garage.properties.map { "\($0.name) \($0.declaredAt ?? "")" } == [
                "city FaultlineEntitiesTests/Garage.swift:63", "number FaultlineEntitiesTests/Garage.swift:64",
                "cars FaultlineEntitiesTests/Garage.swift:65",
            ])
    }
}
