// Sets aside the macros of other libraries that have the names of ours: Qt's `slots`, `Status` of
// X11, `min` and `max`. macros_back.hpp at the end of the header brings them back.
#pragma push_macro("Status")
#pragma push_macro("max")
#pragma push_macro("min")
#pragma push_macro("slots")
#undef Status
#undef max
#undef min
#undef slots
