#include <cstdio>

#include <mortise/mortise.hpp>
#include <mortise/testing/local_cluster.hpp>  // the former name
#include <mortise/testkit.hpp>

int main() {
    mortise::testkit::LocalCluster cluster{3, mortise::testing::quick_timing()};
    const auto hold = cluster.node(0).acquire("consume");
    const auto rival = cluster.node(1).try_acquire("consume");
    std::printf("held with token %s, rival: %s\n", to_string(hold.token()).c_str(),
                rival ? "got it as well" : "none");
    return hold.valid() && !rival ? 0 : 1;
}
