#include "tools/mortise/manual/complete.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace mortise::cli {

namespace {

const Option* find_option(const Command& command, std::string_view name) {
    for (const auto& option : command.options)
        if (std::ranges::find(option.names, name) != option.names.end()) return &option;
    return nullptr;
}

// Reads the words before the one that is to be completed.
class Reader {
public:
    explicit Reader(const Command& program) : command_{&program} {}

    void take(const std::string& word) {
        if (asked_for_ != nullptr) {
            note(word);
        } else if (!options_have_ended_ && word == "--") {
            options_have_ended_ = true;
        } else if (!options_have_ended_ && word.size() > 1 && word.front() == '-') {
            take_option(word);
        } else if (const auto* below = command_->find(word)) {
            command_ = below;
        } else {
            ++arguments_;
        }
    }
    // The completion of the last word.
    Completion finish(const std::string& word) {
        Completion result;
        result.typed = word;
        const auto equals = word.find('=');
        if (asked_for_ != nullptr) {
            add_values(*asked_for_, result);
        } else if (!options_have_ended_ && word.starts_with("--") && equals != word.npos) {
            result.prefix = word.substr(0, equals + 1);
            result.typed = word.substr(equals + 1);
            if (const auto* option = find_option(*command_, word.substr(0, equals)))
                add_values(*option, result);
        } else if (!options_have_ended_ && word.starts_with('-')) {
            add_options(result);
        } else {
            add_commands(result);
            if (const auto* argument = next_argument()) add_values(*argument, result);
        }
        result.options = std::move(given_);
        return result;
    }

private:
    void take_option(const std::string& word) {
        const auto equals = word.find('=');
        const auto* option = find_option(*command_, word.substr(0, equals));
        if (option == nullptr || option->argument.empty()) return;
        asked_for_ = option;
        if (equals != std::string::npos) note(word.substr(equals + 1));
    }
    void note(const std::string& value) {
        given_.emplace(asked_for_->names.back(), value);
        asked_for_ = nullptr;
    }
    [[nodiscard]] const Option* next_argument() const {
        const auto& all = command_->arguments;
        if (all.empty()) return nullptr;
        if (arguments_ < all.size()) return &all[arguments_];
        return all.back().is_repeated ? &all.back() : nullptr;
    }
    static void add(Completion& result, const std::string& word, const std::string& text) {
        if (word.starts_with(result.typed)) result.words.push_back({result.prefix + word, text});
    }
    static void add_values(const Option& option, Completion& result) {
        result.more = option.kind;
        for (const auto& choice : option.choices)
            add(result, choice, "");
    }
    // Those that may be given only once are not offered again.
    void add_options(Completion& result) const {
        for (const auto& option : command_->options) {
            const auto& name = option.names.back();
            if (option.is_repeated || !given_.contains(name)) add(result, name, option.text);
        }
    }
    void add_commands(Completion& result) const {
        for (const auto& below : command_->commands)
            add(result, std::string{below.word()}, below.purpose);
    }

    const Command* command_;
    const Option* asked_for_ = nullptr;  // the next word is its argument
    bool options_have_ended_ = false;
    std::size_t arguments_ = 0;  // that were given to the command
    std::multimap<std::string, std::string> given_;
};

}  // namespace

Completion complete(const Command& program, std::span<const std::string> words) {
    Reader reader{program};
    if (words.empty()) return reader.finish("");
    for (const auto& word : words.first(words.size() - 1))
        reader.take(word);
    return reader.finish(words.back());
}

}  // namespace mortise::cli
