// SwiftPM links libraries with the Swift compiler, which adds libstdc++ and libm after the objects. This library uses
// neither, and must not load them into the programs that it records. Entries of this section become arguments of the link
// (swift-autolink-extract), and this one makes the linker drop unused libraries.
__attribute__((section(".swift1_autolink_entries"), used, retain)) static const char arguments[] = "-Wl,--as-needed";
