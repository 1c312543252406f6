// SwiftPM links libraries with the Swift compiler, which adds libstdc++ and libm after the objects. Nothing here needs
// them, and no program should load them because it is recorded, so this asks the linker to leave out what is not needed.
// Entries of this section become arguments of the link (swift-autolink-extract).
__attribute__((section(".swift1_autolink_entries"), used, retain)) static const char arguments[] = "-Wl,--as-needed";
