// The child's end of child_process.hpp.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "tools/mortise/json_form.hpp"

namespace mortise::cli {

inline constexpr int leash_descriptor = 3;

class Leash {
public:
    // Throws Failure when there is no parent.
    Leash();

    // From any thread.
    void say(const Json& line);
    // The next line. Ends this process, at once and without a word, when the parent is gone.
    [[nodiscard]] Json next();

private:
    std::mutex saying_;
    std::string input_;
};

}  // namespace mortise::cli
