// Ends what macros_aside.hpp began.
#pragma pop_macro("slots")
#pragma pop_macro("min")
#pragma pop_macro("max")
#pragma pop_macro("Status")
