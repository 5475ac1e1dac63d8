// Completes the words of a command line, from the documentation of the commands. The shells call it
// through a hidden command; see completion_scripts.hpp.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "tools/mortise/command.hpp"

namespace mortise::cli {

struct Completion {
    struct Word {
        std::string word;
        std::string text;  // what it does; may be empty
    };
    std::vector<Word> words;  // those that begin with what is typed
    Kind more = Kind::text;   // what else may stand there: the caller knows files and locks
    std::string typed;        // of that: the beginning
    std::string prefix;       // what stands before it in the same word: "--config="
    // The options that were given before, by their names, for asking the cluster.
    std::multimap<std::string, std::string> options;
};

// `words` are those after the name of the program; the last one is to be completed, and may be
// empty.
[[nodiscard]] Completion complete(const Command& program, std::span<const std::string> words);

}  // namespace mortise::cli
