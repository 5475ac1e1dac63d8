// Issues the certificate of a node for any time, for tests: `mortise cert` makes valid ones only.
//
//   make_certificate DIRECTORY CLUSTER NODE FROM FOR
//
// The directory has ca.pem and ca.key. FROM is in seconds from now, FOR is a number of seconds.
#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>

#include <mortise/certificates.hpp>

int main(int argc, char** argv) {
    if (argc != 6) return EXIT_FAILURE;
    try {
        const std::filesystem::path directory{argv[1]};
        const auto name = "node-" + std::string{argv[3]};
        const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
        mortise::CertificateOptions options;
        options.authority_certificate = directory / "ca.pem";
        options.authority_key = directory / "ca.key";
        options.certificate = directory / (name + ".pem");
        options.key = directory / (name + ".key");
        options.cluster = argv[2];
        options.node = std::stoull(argv[3]);
        options.not_before = now + std::chrono::seconds{std::stoll(argv[4])};
        options.valid_for = std::chrono::seconds{std::stoll(argv[5])};
        mortise::issue_certificate(options);
        return EXIT_SUCCESS;
    } catch (const std::exception& error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
