#include "embed/holds/loss_signal.hpp"

#include <memory>
#include <new>

namespace mortise::detail {

LossSignal::~LossSignal() {
    auto* const source = source_.load();
    if (source != stopped()) delete source;
}

// It is never destroyed, because nodes go on during exit().
std::stop_source* LossSignal::stopped() {
    static auto* const source = [] {
        auto its = std::make_unique<std::stop_source>();
        its->request_stop();
        return its.release();
    }();
    return source;
}

std::stop_token LossSignal::token() noexcept {
    auto* source = source_.load();
    if (source != nullptr) return source->get_token();
    try {
        auto its = std::make_unique<std::stop_source>();
        return source_.compare_exchange_strong(source, its.get()) ? its.release()->get_token()
                                                                  : source->get_token();
    } catch (const std::bad_alloc&) {
        return stopped()->get_token();
    }
}

void LossSignal::give() {
    if (!ends_unheard()) source_.load()->request_stop();
}

bool LossSignal::ends_unheard() {
    std::stop_source* source = nullptr;
    return source_.compare_exchange_strong(source, stopped()) || source == stopped();
}

}  // namespace mortise::detail
