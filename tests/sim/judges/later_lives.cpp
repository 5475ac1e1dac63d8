#include "tests/sim/judges/later_lives.hpp"

namespace mortise::sim {

void LaterLives::heard(core::NodeId by, const core::Hello& hello) {
    auto& newest = newest_[{by, hello.generation.incarnation}];
    if (hello.generation.boot_epoch > newest.epoch)
        newest = {hello.generation.boot_epoch, hello.generation.life};
}

void LaterLives::forgot(core::NodeId by) {
    std::erase_if(newest_, [&](const auto& known) { return known.first.first == by; });
}

bool LaterLives::knows_better(core::NodeId by, const core::Hello& hello,
                              core::BootEpoch newest_session) const {
    if (hello.generation.boot_epoch < newest_session) return true;
    const auto known = newest_.find({by, hello.generation.incarnation});
    if (known == newest_.end() || known->second.epoch < hello.generation.boot_epoch) return false;
    return known->second.epoch > hello.generation.boot_epoch ||
           known->second.life != hello.generation.life;
}

}  // namespace mortise::sim
