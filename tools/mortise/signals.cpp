#include "tools/mortise/signals.hpp"

#include <ctime>

#include <pthread.h>

namespace mortise::cli {

EndSignals::EndSignals() {
    ::sigemptyset(&set_);
    ::sigaddset(&set_, SIGINT);
    ::sigaddset(&set_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &set_, &former_);
}

EndSignals::~EndSignals() {
    ::pthread_sigmask(SIG_SETMASK, &former_, nullptr);
}

bool EndSignals::wait_for(std::chrono::nanoseconds time) {
    if (came_) return true;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    const timespec limit{seconds.count(), (time - seconds).count()};
    came_ = ::sigtimedwait(&set_, nullptr, &limit) > 0;
    return came_;
}

}  // namespace mortise::cli
