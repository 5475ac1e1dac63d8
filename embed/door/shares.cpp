#include "embed/door/shares.hpp"

#include <mutex>
#include <unordered_map>
#include <utility>

namespace mortise::door {

struct Shares::Counts {
    std::mutex mutex;
    std::unordered_map<std::string, std::size_t> of_users;
};

class Shares::Taken {
public:
    Taken(std::shared_ptr<Counts> counts, std::string user)
        : counts_{std::move(counts)}, user_{std::move(user)} {}
    ~Taken() {
        if (!is_counted_) return;
        const std::lock_guard lock{counts_->mutex};
        const auto found = counts_->of_users.find(user_);
        if (--found->second == 0) counts_->of_users.erase(found);
    }
    Taken(const Taken&) = delete;
    Taken& operator=(const Taken&) = delete;

    // False if there are so many.
    [[nodiscard]] bool is_counted(std::size_t most) {
        const std::lock_guard lock{counts_->mutex};
        auto& count = counts_->of_users[user_];
        is_counted_ = count < most;
        if (is_counted_) ++count;
        return is_counted_;
    }

private:
    const std::shared_ptr<Counts> counts_;
    const std::string user_;
    bool is_counted_ = false;
};

std::shared_ptr<Shares::Counts> Shares::begin() {
    return std::make_shared<Counts>();
}

std::shared_ptr<void> Shares::take(const std::string& user, std::size_t all) {
    auto taken = std::make_shared<Taken>(counts_, user);
    return taken->is_counted(share_of(user, all)) ? std::move(taken) : nullptr;
}

}  // namespace mortise::door
