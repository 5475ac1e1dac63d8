// Writes inputs for the fuzz targets, from the real encoders: seed_corpus FOLDER. `run.py --keep`
// then chooses from these and from what the targets find themselves (docs/testing.md). It also
// writes the directory that the target `directory` alters, which replaces good_directory.bin when
// the format of the disk changes; the old corpus of that target is useless then.
#include <filesystem>
#include <initializer_list>
#include <iostream>
#include <string>
#include <vector>

#include <capnp/serialize.h>
#include <openssl/pem.h>

#include "core/locks/machine/machine_loader.hpp"
#include "storage/files/countdown_file.hpp"
#include "storage/files/meta_file.hpp"
#include "storage/log/log_rows.hpp"
#include "storage/state/state_rows.hpp"
#include "tests/fuzz/good_directory.hpp"
#include "tests/fuzz/scratch.hpp"
#include "tests/spec/script.hpp"
#include "tests/support/lies.hpp"
#include "tests/unit/transport/network_support.hpp"
#include "tests/unit/transport/raw_frames.hpp"
#include "transport/tls/certificates.hpp"
#include "transport/wire/convert.hpp"

namespace mortise::fuzz {
namespace {

using namespace core;
using namespace core::test;
using namespace std::chrono_literals;

class Seeds {
public:
    explicit Seeds(std::filesystem::path folder) : folder_{std::move(folder)} {}

    void add(const std::string& target, const std::string& input) {
        std::filesystem::create_directories(folder_ / target);
        put(folder_ / target / ("seed-" + std::to_string(++count_)), input);
    }
    // Choices are taken from the front: small numbers are one byte each.
    void add(const std::string& target, std::initializer_list<int> choices,
             const std::string& rest) {
        std::string input;
        for (const auto choice : choices)
            input.push_back(static_cast<char>(choice));
        add(target, input + rest);
    }
    [[nodiscard]] int count() const { return count_; }

private:
    std::filesystem::path folder_;
    int count_ = 0;
};

std::string piece(std::string_view bytes) {
    ByteWriter out;
    out.u16(static_cast<std::uint16_t>(bytes.size()));
    return out.take().append(bytes);
}

std::string random_bytes(Prng& prng, std::size_t bytes_max) {
    std::string bytes(prng.below(bytes_max), '\0');
    for (auto& byte : bytes)
        byte = static_cast<char>(prng.next());
    return bytes;
}

template <class Wire, class Value>
std::string message_of(const Value& value) {
    capnp::MallocMessageBuilder message;
    transport::write(value, message.initRoot<Wire>());
    return transport::test::bytes_of(message);
}

template <class Wire, class Value>
std::string list_of(const std::vector<Value>& values) {
    capnp::MallocMessageBuilder message;
    auto root = message.initRoot<capnp::AnyPointer>();
    transport::write(values, root.initAs<capnp::List<Wire>>(static_cast<unsigned>(values.size())));
    return transport::test::bytes_of(message);
}

// --- messages of members ------------------------------------------------------------------------

struct Talk {
    std::vector<PeerMessage> messages;
    std::vector<Bytes> batches;
};

Talk talk_of_members() {
    NodeCluster cluster{1, 2, 3};
    cluster.connect_all();
    cluster.run_for(5 * heartbeat);
    Prng prng{1};
    Lies lies{prng};
    Talk talk;
    for (int i = 0; i < 400; ++i) {
        auto message = lies.next(cluster[n1]);
        if (const auto* forward = std::get_if<Forward>(&message)) {
            talk.batches.push_back(forward->batch);
        }
        talk.messages.push_back(std::move(message));
    }
    return talk;
}

// The decoder accepts it: a list ends with the first message that it refuses.
bool is_sound(const PeerMessage& message) {
    capnp::MallocMessageBuilder built;
    transport::write(message, built.initRoot<wire::PeerMessage>());
    return transport::read(built.getRoot<wire::PeerMessage>().asReader()).has_value();
}

void add_messages(Seeds& seeds, const Talk& talk) {
    for (const auto& message : talk.messages)
        seeds.add("schema", {1}, message_of<wire::PeerMessage>(message));
    // Many kinds in one input; few inputs of that kind get far.
    std::vector<PeerMessage> sound;
    std::ranges::copy_if(talk.messages, std::back_inserter(sound), is_sound);
    constexpr std::ptrdiff_t messages = 20;
    for (auto from = sound.begin(); sound.end() - from >= messages; from += messages) {
        const std::vector<PeerMessage> some{from, from + messages};
        seeds.add("schema", {0}, list_of<wire::PeerMessage>(some));
    }
}

// --- entries of the log -------------------------------------------------------------------------

constexpr std::uint64_t scripts = 16;
constexpr std::size_t input_bytes_max = 4'096;

Bytes encoded(const std::vector<Command>& commands) {
    BatchBuilder batch;
    for (const auto& command : commands)
        batch.add(command);
    return batch.take(command_format_newest);
}

void add_commands(Seeds& seeds, const Talk& talk) {
    for (std::uint64_t seed = 1; seed <= scripts; ++seed) {
        std::string input;
        for (const auto& entry : spec::make_script(seed)) {
            const auto next = piece(encoded(entry).view());
            if (input.size() + next.size() < input_bytes_max) input += next;
        }
        seeds.add("commands", input);
    }
    std::string lies;
    for (const auto& batch : talk.batches)
        if (lies.size() + batch.size() + 2 < input_bytes_max) lies += piece(batch.view());
    seeds.add("commands", lies);
    seeds.add("commands", piece(encode_configuration(voters({1, 2, 3})).view()));
    seeds.add("commands", piece(encode_state_sum({LogIndex{1}, 2}).view()));
}

void add_rows(Seeds& seeds, const LockMachine& machine) {
    std::string rows;
    std::size_t count = 0;
    for (const auto& row : machine.all_rows()) {
        ++count;
        rows += static_cast<char>(row.key.size()) + row.key + piece(*row.value);
    }
    seeds.add("install", {0}, rows);
    // As one complete chunk: its rows fit if they are few.
    if (count < 8) seeds.add("install", {1, 2, static_cast<int>(count)}, rows);
}

void add_states(Seeds& seeds) {
    for (std::uint64_t seed = 1; seed <= scripts; ++seed) {
        LockMachine machine;
        LogIndex index;
        for (const auto& entry : spec::make_script(seed)) {
            index = index.next();
            (void)spec::apply(machine, index, entry);
            // Some early images, which are small, and a later one.
            if (index.raw() == 5 || index.raw() == 10 || index.raw() == 40)
                add_rows(seeds, machine);
        }
        const transport::ListReply listed{machine.list("", "", 20), true};
        seeds.add("schema", {6}, message_of<wire::ListAnswer>(transport::ListAnswer{listed}));
    }
}

// --- clients -------------------------------------------------------------------------------------

void add_client_messages(Seeds& seeds) {
    using namespace transport;
    Greeting greeting;
    greeting.hello = transport::test::hello_of(1);
    seeds.add("schema", {2}, message_of<wire::Hello>(greeting));
    MemberStatus status;
    status.leader = n2;
    status.session = SessionId{7};
    for (const auto& each : members({1, 2, 3}))
        status.members.push_back({each, true, true, LogIndex{3}, false});
    seeds.add("schema", {4}, message_of<wire::Status>(status));
    seeds.add("schema", {5}, message_of<wire::ListRequest>(ListRequest{"a", "b", 3, true, false}));
    seeds.add("schema", {6}, message_of<wire::ListAnswer>(ListAnswer{CallError::no_quorum}));
    seeds.add("schema", {6}, message_of<wire::ListAnswer>(ListAnswer{Denied{"no"}}));
    const MembershipGoal goal{MembershipGoal::Kind::voter, n2, "host:1"};
    seeds.add("schema", {7}, message_of<wire::MembershipGoal>(goal));
    for (const auto& answer : {ChangeAnswer{Changed{}}, ChangeAnswer{CallError::no_quorum},
                               ChangeAnswer{MembershipRefusal{}}, ChangeAnswer{Denied{"no"}}})
        seeds.add("schema", {8}, message_of<wire::ChangeAnswer>(answer));
    seeds.add("schema", {3}, message_of<wire::Refused>(Refusal::busy));
}

void add_connections(Seeds& seeds, Prng& prng) {
    using namespace transport::test;
    const std::string ours(16, '\0');
    auto stream = client_hello();
    for (unsigned method = 0; method < methods; ++method)
        stream += member_call(2 + method, method) + finish(2 + method);
    for (const int rules : {0, 1, 2, 3})
        seeds.add("frame", {3, rules, 9}, ours + stream);
    seeds.add("rpc", {0, 4}, piece(stream));
    for (int method = 0; method <= static_cast<int>(methods); ++method)
        seeds.add("rpc", {1, 11, method, 0, 2, 3, 7, 8, 9, 2, 2}, "");
    // A peer: its bootstrap request, its hello, two messages.
    const std::initializer_list<int> peer{0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0,
                                          1, 0, 0, 5, 2, 0, 2, 7, 8, 0};
    seeds.add("rpc", peer, "");
    // And the node sends it two messages, which are answered; so is one that was not sent.
    const std::string answers{"\x0e\x07\x09\x0f\x00\x01\x0e\x08\x09\x0f\x00\x01\x0f\x03\x01", 15};
    seeds.add("rpc", peer, answers);
    for (int i = 0; i < 50; ++i) {
        seeds.add("rpc", {1}, random_bytes(prng, 400));
        seeds.add("raft", random_bytes(prng, 2'000));
        seeds.add("directory", random_bytes(prng, 40));
    }
}

// --- files ---------------------------------------------------------------------------------------

void add_files(Seeds& seeds) {
    using namespace storage;
    const auto three = voters({1, 2, 3});
    seeds.add("meta", {0, 0}, encode_hard_state({Term{3}, n2}));
    const LogHead head{n1, Incarnation{5}, {log_id(2, 9), three}, 77};
    seeds.add("meta", {1, 0}, encode_log_head(head));
    seeds.add("meta", {2, 0}, encode_applied({Incarnation{5}, 1, log_id(2, 9), three, false}));
    const auto entry = commands(log_id(2, 10), "payload");
    seeds.add("meta", {3, 0}, entry_key(LogIndex{10}) + encode_entry_head(entry, 4) + "payload");
    const auto path = scratch() / "meta";
    Meta meta;
    meta.node = n1;
    meta.incarnation = Incarnation{5};
    meta.life.boot_id = "boot";
    if (auto file = MetaFile::create(path, meta, nullptr)) {
        static_cast<void>(file->write(meta, Durable::yes));
        static_cast<void>(file->write(meta, Durable::no));
    }
    const auto bytes = bytes_of(path);
    seeds.add("meta", {4}, bytes);
    ByteReader in{bytes};
    static_cast<void>(in.u64() + in.u32());
    const auto content = piece(bytes.substr(16, in.u32()));
    seeds.add("meta", {5}, content + '\0' + content + '\0' + content + '\0' + content + '\0');
    if (auto file = CountdownFile::open(scratch(), nullptr)) {
        const SavedCountdowns one{{{{SessionId{1}, LogIndex{2}}, Nanoseconds{3}}}, {}};
        static_cast<void>(file->save(one));
        static_cast<void>(file->save(one));
    }
    seeds.add("meta", {6, 0},
              piece(bytes_of(scratch() / "countdowns")) + bytes_of(scratch() / "countdowns.2"));
}

std::string der_of(const std::string& pem) {
    auto* const bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
    char* name = nullptr;
    char* header = nullptr;
    unsigned char* data = nullptr;
    long size = 0;
    std::string der;
    if (PEM_read_bio(bio, &name, &header, &data, &size) == 1) der.assign(data, data + size);
    OPENSSL_free(name);
    OPENSSL_free(header);
    OPENSSL_free(data);
    BIO_free_all(bio);
    return der;
}

void add_certificates(Seeds& seeds) {
    using namespace transport;
    const std::chrono::sys_seconds now{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
    const auto validity = Validity::from(now, 24h);
    const auto authority = make_authority({"c", validity});
    if (!authority) return;
    CertificateRequest request;
    request.identity.node = n1;
    request.identity.access = {{AccessRole::voter}, {{Right::acquire, "jobs/"}}};
    request.hosts = {"node.example", "127.0.0.1", "::1"};
    request.validity = validity;
    const auto issued = issue_certificate(*authority, request, now);
    if (!issued) return;
    seeds.add("certificate", {2}, issued->certificate + authority->certificate);
    seeds.add("certificate", {0}, der_of(issued->certificate));
    seeds.add("certificate", {0}, der_of(authority->certificate));
    const std::string key{issued->key.text()};
    seeds.add("certificate", {1}, key);
    seeds.add("certificate", {1}, der_of(key));
}

// --- texts ---------------------------------------------------------------------------------------

void add_texts(Seeds& seeds) {
    seeds.add("config", {0}, R"(cluster = "orders"
node_id = 1
data_dir = "/var/lib/x"
listen = "127.0.0.1:7400"
[[peer]]
id = 1
address = "127.0.0.1:7400"
[[peer]]
id = 2
address = "[::1]:7401"
[timing]
session_ttl = "10s"
heartbeat = "100ms"
clock_rate_bound = 0.01
[tls]
certificate = "node.pem"
key = "node.key"
ca = "ca.pem"
[log]
level = "info"
[limits]
calls = 1000
)");
    seeds.add("config", {1}, "1=host:1, 2=[::1]:2 ,3=10.0.0.1:3");
    for (const auto* text : {"host.example:7400", "[::1]:1", "127.0.0.1:65535", ":1", "a:b"})
        seeds.add("config", {2}, text);
    for (const auto* text : {"10s", "1.5h", "250ms", "0.000001ns", "9999999999999999h"})
        seeds.add("config", {3}, text);
    seeds.add("config", {4}, "a\xc3\xa9\xe2\x80\xae\xf0\x9f\x98\x80\n");
    for (const auto* text :
         {"node\n--config\nx.toml", "status\n--peer\nhost:1\n--json", "members\nadd\n3\nhost:3",
          "members\npromote\n3", "transfer-leader\n2\n--timeout\n5s", "locks\nprefix\n--local",
          "inspect\nname", "break\nname\n--token\n7\n--reason\nwhy\n--now", "--version", "--help",
          "cert\ninit\n--cluster\nc\n--dir\nd\n--days\n9", "cert\nshow\na.pem\n--ca\nca.pem",
          "cert\nissue\n--node\n1\n--role\nvoter\n--may\nacquire:jobs/\n--host\nh",
          "demo\n--seed\n1", "bench\n--seconds\n1\n--clients\n3\n--tls", "member\nnode\na\nb",
          "nonsense"})
        seeds.add("command_line", text);
    for (const auto* text :
         {"@node/1\n@role/voter\n@may/acquire/jobs%2F\n@may/members",
          "spiffe://x\n@user/a\n@role/admin",
          "@user/a\n@role/client\n@role/observer\n@may/observe/\n@may/break/a", "@authority"})
        seeds.add("access", piece(text) + "\x03" + piece("jobs/1") + '\0' + piece(""));
}

int write_all(const std::filesystem::path& folder) {
    Seeds seeds{folder};
    Prng prng{2};
    const auto talk = talk_of_members();
    add_messages(seeds, talk);
    add_commands(seeds, talk);
    add_states(seeds);
    add_client_messages(seeds);
    add_connections(seeds, prng);
    add_files(seeds);
    add_certificates(seeds);
    add_texts(seeds);
    put(folder / "good_directory.bin", good_directory());
    std::cout << seeds.count() << " inputs in " << folder.string() << '\n';
    return 0;
}

}  // namespace
}  // namespace mortise::fuzz

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "seed_corpus FOLDER\n";
        return 2;
    }
    return mortise::fuzz::write_all(argv[1]);
}
