// Authorities and credentials for tests, in a temporary directory.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "core/access/identity.hpp"
#include "tests/support/plain_service.hpp"
#include "tests/unit/transport/certificate_by_hand.hpp"
#include "transport/tls/certificates.hpp"
#include "transport/tls/key_files.hpp"
#include "transport/tls/tls_credentials.hpp"

namespace mortise::transport::test {

inline const core::Access voter{{core::AccessRole::voter}, {}};

class Authority {
public:
    explicit Authority(const std::string& cluster) : cluster_{cluster} {
        std::string name = (std::filesystem::temp_directory_path() / "mortise-tls-XXXXXX").string();
        directory_ = ::mkdtemp(name.data());
        auto made = make_authority({cluster, for_an_hour()});
        own_ = std::move(*made);
    }
    ~Authority() { std::filesystem::remove_all(directory_); }
    Authority(const Authority&) = delete;
    Authority& operator=(const Authority&) = delete;

    using Credentials = std::shared_ptr<const TlsCredentials>;
    using Believed = std::vector<const Authority*>;

    // What somebody presents. Empty if it could not be issued; problem() says why.
    Papers papers(const core::Identity& identity, Validity validity = for_an_hour()) {
        const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
        CertificateRequest request;
        request.identity = identity;
        request.validity = validity;
        auto issued = issue_certificate(own_, request, now);
        if (issued) return std::make_shared<const Issued>(std::move(*issued));
        problem_ = issued.error().what;
        return nullptr;
    }
    Papers papers_of_node(std::uint64_t id, const core::Access& access = voter) {
        return papers({cluster_, core::NodeId{id}, {}, access});
    }
    Papers papers_of_user(const std::string& name, core::AccessRole role) {
        return papers({cluster_, {}, name, {{role}, {}}});
    }
    [[nodiscard]] const Issued& own() const { return own_; }

    // Empty if they could not be used; problem() says why.
    Credentials issue(const core::Identity& identity, Validity validity = for_an_hour(),
                      const Believed& believed = {}) {
        return load(papers(identity, validity), believed);
    }
    // The same for what was issued before.
    Credentials load(const Papers& papers, const Believed& believed = {}) {
        if (!papers) return nullptr;
        const auto stem = directory_ / std::to_string(++count_);
        const KeyPairPaths paths{stem.string() + ".pem", stem.string() + ".key"};
        if (auto written = write_key_pair(paths, *papers); !written) return nullptr;
        const auto authorities = stem.string() + ".ca";
        std::ofstream out{authorities};
        if (believed.empty()) out << own_.certificate;
        for (const auto* each : believed)
            out << each->own_.certificate;
        out.close();
        const auto revoked = std::filesystem::exists(revoked_file()) ? revoked_file() : "";
        auto loaded = TlsCredentials::load({paths.certificate, paths.key, authorities, revoked});
        if (loaded) return *loaded;
        problem_ = loaded.error().what;
        return nullptr;
    }
    Credentials node(std::uint64_t id, const Believed& believed = {}) {
        return issue({cluster_, core::NodeId{id}, {}, voter}, for_an_hour(), believed);
    }
    Credentials user(const std::string& name, core::AccessRole role,
                     const Believed& believed = {}) {
        return issue({cluster_, {}, name, {{role}, {}}}, for_an_hour(), believed);
    }
    // Credentials that are loaded from now on do not trust it.
    void revoke(const std::string& serial) {
        std::ofstream{revoked_file(), std::ios::app} << serial << " # stolen\n";
    }
    [[nodiscard]] std::filesystem::path revoked_file() const { return directory_ / "revoked"; }
    [[nodiscard]] const std::string& problem() const { return problem_; }
    [[nodiscard]] const std::filesystem::path& directory() const { return directory_; }

private:
    std::string cluster_;
    std::filesystem::path directory_;
    Issued own_;
    int count_ = 0;
    std::string problem_;
};

// Serves clients, with empty answers.
struct NoService : PlainService {
    MemberStatus status() const override { return {}; }
    void list(ListRequest, std::function<void(ListAnswer)> answer) override { answer(ListReply{}); }
    void change(core::MembershipGoal, core::Nanoseconds,
                std::function<void(ChangeAnswer)> answer) override {
        answer(core::Changed{});
    }
    void break_lock(core::BreakLock, std::function<void(ChangeAnswer)> answer) override {
        answer(core::Changed{});
    }
};

}  // namespace mortise::transport::test
