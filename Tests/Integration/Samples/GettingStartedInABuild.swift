import FaultlineStore

final class Receipt: ManagedObject {}
