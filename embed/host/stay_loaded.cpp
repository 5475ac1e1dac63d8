#include "embed/host/stay_loaded.hpp"

#include <dlfcn.h>
#include <link.h>

namespace mortise::detail {

void stay_loaded() noexcept {
    Dl_info info;
    void* found = nullptr;
    const auto here = reinterpret_cast<void*>(&stay_loaded);
    if (::dladdr1(here, &info, &found, RTLD_DL_LINKMAP) == 0 || found == nullptr) return;
    const auto* const object = static_cast<const link_map*>(found);
    if (object->l_name[0] == '\0') return;  // the program itself
    // The name under which it was loaded is compared before any file is opened. dlopen fails only
    // without memory, which does no harm in a host that unloads nothing.
    void* const handle = ::dlopen(object->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (handle != nullptr) ::dlclose(handle);
}

}  // namespace mortise::detail
