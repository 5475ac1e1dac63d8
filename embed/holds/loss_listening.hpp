// Whether somebody wants to be notified of the loss of a hold. Where nobody does, a loss need not
// wait for the notification.
#pragma once

#include <atomic>
#include <cstdint>

namespace mortise::detail {

// Thread-safe. It has one byte, which fits into the padding of a HoldRecord.
class LossListening {
public:
    // Somebody asks to be notified. True if the loss was marked before, so nobody will notify him.
    [[nodiscard]] bool begins_too_late() {
        auto listens = Listens::no;
        listens_.compare_exchange_strong(listens, Listens::yes);
        return listens == Listens::too_late;
    }
    // Called when the loss is marked, so a thread that is too late finds a lost hold. True if
    // nobody listens.
    [[nodiscard]] bool ends_unheard() {
        auto listens = Listens::no;
        listens_.compare_exchange_strong(listens, Listens::too_late);
        return listens != Listens::yes;
    }
    // True if neither was called.
    [[nodiscard]] bool is_untouched() const { return listens_.load() == Listens::no; }

private:
    enum class Listens : std::uint8_t { no, yes, too_late };

    // set once: by begins_too_late() or by ends_unheard(), whichever comes first
    std::atomic<Listens> listens_{Listens::no};
};

}  // namespace mortise::detail
