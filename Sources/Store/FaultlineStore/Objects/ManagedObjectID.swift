package import FaultlineModel
public import Foundation

/// The identity of an object: its store, entity and row.
///
/// An object that has not been saved has a temporary identity.
public struct ManagedObjectID: Sendable {
    let store: PersistentStore
    let entity: EntitySchema
    /// `Z_PK`; negative while temporary.
    let key: Int64

    package init(store: PersistentStore, entity: EntitySchema, key: Int64) {
        (self.store, self.entity, self.key) = (store, entity, key)
    }

    /// The name of the object's entity.
    public var entityName: String { entity.name }

    /// Whether the object has not been saved; its identity changes when it is.
    public var isTemporaryID: Bool { key < 0 }

    /// The store that the object is in; `nil` while the identity is temporary.
    public var persistentStore: PersistentStore? { isTemporaryID ? nil : store }

    /// The identity as a URL: `x-coredata://<store>/Item/p1`, or `x-coredata:///Item/t<number>` if it is temporary.
    public func uriRepresentation() -> URL {
        URL(string: text)!
    }

    var text: String {
        isTemporaryID
            ? "x-coredata:///\(entity.name)/t\(-key)" : "x-coredata://\(store.identifier)/\(entity.name)/p\(key)"
    }
}

extension ManagedObjectID: Hashable {
    // A row is one object, whichever entity of its inheritance tree the ID names.
    /// Whether both identify the same object.
    public static func == (left: ManagedObjectID, right: ManagedObjectID) -> Bool {
        left.key == right.key && left.entity.root == right.entity.root && left.store === right.store
    }

    /// Feeds the parts that `==` compares to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        hasher.combine(entity.root)
    }
}

extension ManagedObjectID: CustomStringConvertible {
    /// The form that SQLDebug prints: `0x0001000000000001 <x-coredata://…/Item/p1>`.
    public var description: String {
        let number = UInt64(bitPattern: entity.number) << 48 | UInt64(bitPattern: key) & 0xffff_ffff_ffff
        let digits = String(number, radix: 16)
        return "0x\(String(repeating: "0", count: 16 - digits.count))\(digits) <\(text)>"
    }
}
