#include "embed/threads/submitted.hpp"

namespace mortise::detail {

core::Call Submitted::take() {
    switch (ends_) {
        case Ends::call: return core::CancelCall{tag_};
        case Ends::hold: return core::ReleaseCall{tag_, hold_};
        case Ends::lapse: return core::ReleaseCall{tag_, hold_, true};
        case Ends::loss: return core::ToldCall{tag_, hold_};
        case Ends::nothing: break;
    }
    return std::move(as_call()->call);
}

std::shared_ptr<Submitted> prepared(core::Call call) {
    using Ends = Submitted::Ends;
    if (const auto* one = std::get_if<core::CancelCall>(&call))
        return std::make_shared<Submitted>(Ends::call, one->tag);
    if (const auto* one = std::get_if<core::ReleaseCall>(&call))
        return std::make_shared<Submitted>(one->lost ? Ends::lapse : Ends::hold, one->tag,
                                           one->hold);
    if (const auto* one = std::get_if<core::ToldCall>(&call))
        return std::make_shared<Submitted>(Ends::loss, one->tag, one->hold);
    return std::make_shared<SubmittedCall>(std::move(call));
}

}  // namespace mortise::detail
