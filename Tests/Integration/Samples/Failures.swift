func offerToFreeSpace(_ message: String) {}
