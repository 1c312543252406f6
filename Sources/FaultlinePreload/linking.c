// SwiftPM links libraries with the Swift compiler, which adds libstdc++ and libm after the objects. This library needs
// neither, and recording a program must not load other libraries into it. So the linker is told to drop those that nothing
// uses: entries of this section become arguments of the link (swift-autolink-extract).
__attribute__((section(".swift1_autolink_entries"), used, retain)) static const char arguments[] = "-Wl,--as-needed";
