// The child's side of child_process.hpp.
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "tools/mortise/json_form.hpp"

namespace mortise::cli {

class Leash {
public:
    // Throws Failure if there is no parent.
    Leash();

    // May be called from any thread.
    void say(const Json& line);
    // Returns the next line. Ends this process at once, without a message, if the parent has ended.
    [[nodiscard]] Json next();

private:
    std::mutex saying_;
    std::string input_;
};

}  // namespace mortise::cli
