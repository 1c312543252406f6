/// The number of a dictionary entry in the process that wrote it; 0 if there is none.
public typealias DictionaryID = UInt32

/// The number of an event in the process that recorded it; 0 if there is none.
public typealias EventID = UInt64
