// The main() of a program that several tests share (mortise_test with IN, in
// cmake/MortiseTargets.cmake). `--of=a_test.cpp,b_test.cpp` runs the cases of these files alone. A
// --gtest_filter chooses among them. Without --of the program runs all of its cases.
#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fnmatch.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream all{text};
    for (std::string part; std::getline(all, part, at);)
        parts.push_back(part);
    return parts;
}

bool is_of(const testing::TestInfo& test, const std::vector<std::string>& files) {
    const std::string_view path{test.file()};
    return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
        return path.ends_with("/" + file) || path == file;
    });
}

// As the patterns before the "-" of a filter of GoogleTest. Its names have no "[".
bool is_wanted(const std::string& name, const std::vector<std::string>& patterns) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
        return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
    });
}

// The names of the cases of these files that the present filter allows, as a filter.
std::string cases_of(const std::vector<std::string>& files) {
    const std::string filter = GTEST_FLAG_GET(filter);
    const auto minus = filter.find('-');
    const std::string wanted = filter.substr(0, minus);
    const auto patterns = split(wanted.empty() ? "*" : wanted, ':');
    std::string cases;
    const auto& all = *testing::UnitTest::GetInstance();
    for (int suite = 0; suite < all.total_test_suite_count(); ++suite) {
        const auto& tests = *all.GetTestSuite(suite);
        for (int one = 0; one < tests.total_test_count(); ++one) {
            const auto& test = *tests.GetTestInfo(one);
            const auto name = std::string{tests.name()} + "." + test.name();
            if (is_of(test, files) && is_wanted(name, patterns)) cases += name + ":";
        }
    }
    if (!cases.empty() && minus != std::string::npos) cases += filter.substr(minus);
    return cases;
}

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleMock(&argc, argv);
    constexpr std::string_view option = "--of=";
    for (int place = 1; place < argc; ++place) {
        const std::string word{argv[place]};
        if (!word.starts_with(option)) {
            std::fprintf(stderr, "not understood: %s\n", word.c_str());
            return 2;
        }
        const auto cases = cases_of(split(word.substr(option.size()), ','));
        if (cases.empty()) {
            std::fprintf(stderr, "no case for %s\n", word.c_str());
            return 2;
        }
        GTEST_FLAG_SET(filter, cases);
    }
    return RUN_ALL_TESTS();
}
