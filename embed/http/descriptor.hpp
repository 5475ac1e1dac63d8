// A descriptor that is closed with this object.
#pragma once

#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace mortise::http {

class Descriptor {
public:
    Descriptor() noexcept = default;
    // Takes it over. It never has one of the numbers 0 to 2: where the host has closed them, what
    // somebody prints would go to a browser (decision 0030).
    explicit Descriptor(int number) noexcept : number_{number} {
        if (number_ < 0 || number_ > STDERR_FILENO) return;
        number_ = ::fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        ::close(number);
    }
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept : number_{std::exchange(other.number_, -1)} {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        if (this == &other) return *this;
        reset();
        number_ = std::exchange(other.number_, -1);
        return *this;
    }

    [[nodiscard]] int number() const noexcept { return number_; }
    [[nodiscard]] explicit operator bool() const noexcept { return number_ >= 0; }
    void reset() noexcept {
        if (number_ >= 0) ::close(std::exchange(number_, -1));
    }

private:
    int number_ = -1;
};

}  // namespace mortise::http
