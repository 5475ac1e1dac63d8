#include "tools/mortise/manual/complete.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace mortise::cli {
namespace {

Command program() {
    const Option peer{.names = {"--peer"}, .argument = "HOST:PORT", .is_repeated = true};
    const Option config{.names = {"--config"}, .argument = "FILE", .kind = Kind::file};
    const Option json{.names = {"--json"}};
    Command add{.name = "mortise members add", .purpose = "Add a node"};
    add.arguments = {{.argument = "ID", .kind = Kind::member}, {.argument = "ADDRESS"}};
    add.options = {peer, json};
    Command members{.name = "mortise members", .purpose = "List the members"};
    members.options = {peer, config, json};
    members.commands = {add, {.name = "mortise members move", .purpose = "Move a node"}};
    Command run{.name = "mortise run"};
    run.options = {{.names = {"--lock"}, .argument = "NAME", .kind = Kind::lock}};
    run.arguments = {{.argument = "CMD", .kind = Kind::command, .is_repeated = true}};
    Command completion{.name = "mortise completion"};
    completion.arguments = {
        {.argument = "SHELL", .kind = Kind::choice, .choices = {"bash", "zsh", "fish"}}};
    Command all{.name = "mortise"};
    all.options = {{.names = {"-h", "--help"}}};
    all.commands = {members, run, completion};
    return all;
}

// The words that are offered, divided by blanks.
std::string offered(const std::vector<std::string>& words) {
    std::string text;
    for (const auto& [word, does] : complete(program(), words).words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

Kind more(const std::vector<std::string>& words) {
    return complete(program(), words).more;
}

TEST(Complete, OffersCommandsAndThoseBelowThem) {
    EXPECT_EQ(offered({""}), "members run completion");
    EXPECT_EQ(offered({"m"}), "members");
    EXPECT_EQ(offered({"members", ""}), "add move");
    EXPECT_EQ(offered({"members", "a"}), "add");
    EXPECT_EQ(complete(program(), std::vector<std::string>{"mem"}).words.front().text,
              "List the members");
}

TEST(Complete, OffersTheOptionsOfTheCommand) {
    EXPECT_EQ(offered({"-"}), "--help");
    EXPECT_EQ(offered({"members", "--"}), "--peer --config --json");
    EXPECT_EQ(offered({"members", "add", "--p"}), "--peer");
    EXPECT_EQ(offered({"--json", "members", "add", "--"}), "--peer --json");
}

TEST(Complete, OffersAnOptionOnlyOnceUnlessItMayBeRepeated) {
    EXPECT_EQ(offered({"members", "--peer", "a:1", "--config", "x", "--"}), "--peer --json");
}

TEST(Complete, KnowsWhatAnArgumentIs) {
    EXPECT_EQ(more({"members", "--config", ""}), Kind::file);
    EXPECT_EQ(more({"members", "--peer", ""}), Kind::text);
    EXPECT_EQ(more({"members", "add", ""}), Kind::member);
    EXPECT_EQ(more({"members", "add", "4", ""}), Kind::text);
    EXPECT_EQ(more({"members", "add", "--json", ""}), Kind::member);
    EXPECT_EQ(more({"run", "--lock", "or"}), Kind::lock);
    EXPECT_EQ(offered({"completion", ""}), "bash zsh fish");
    EXPECT_EQ(offered({"completion", "z"}), "zsh");
    EXPECT_EQ(offered({"completion", "zsh", ""}), "");
}

TEST(Complete, CompletesTheCommandAfterTheDashes) {
    EXPECT_EQ(more({"run", "--lock", "x", "--", "ma"}), Kind::command);
    EXPECT_EQ(more({"run", "--lock", "x", "--", "make", "-j"}), Kind::command);
    EXPECT_EQ(offered({"run", "--lock", "x", "--", "--l"}), "");
}

TEST(Complete, CompletesTheValueInTheSameWord) {
    const auto completion = complete(program(), std::vector<std::string>{"run", "--lock=orders/"});
    EXPECT_EQ(completion.more, Kind::lock);
    EXPECT_EQ(completion.prefix, "--lock=");
    EXPECT_EQ(completion.typed, "orders/");
    EXPECT_EQ(more({"members", "--config=x", "--config=y"}), Kind::file);
}

TEST(Complete, RemembersHowToReachTheCluster) {
    const auto completion = complete(
        program(),
        std::vector<std::string>{"members", "--peer", "a:1", "--peer=b:2", "--config", "x", ""});
    const std::multimap<std::string, std::string> expected{
        {"--peer", "a:1"}, {"--peer", "b:2"}, {"--config", "x"}};
    EXPECT_EQ(completion.options, expected);
}

TEST(Complete, OffersNothingForWordsThatItDoesNotKnow) {
    EXPECT_EQ(offered({"members", "--nonsense", "--nonsense=1", "add", "1", "2", "3", ""}), "");
    EXPECT_EQ(offered({"nonsense", "x"}), "");
    EXPECT_EQ(offered({"members", "--nonsense="}), "");
}

}  // namespace
}  // namespace mortise::cli
