#pragma once

#include <string>

namespace mortise::fuzz {

// The files of a data directory and of a fence gate's marks, each as its path and its content.
std::string good_directory();

}  // namespace mortise::fuzz
