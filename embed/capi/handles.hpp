// What the opaque objects of mortise.h are.
#pragma once

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>

#include <mortise.h>

#include "embed/capi/lost_watch.hpp"
#include <mortise/config.hpp>
#include <mortise/hold.hpp>
#include <mortise/info.hpp>
#include <mortise/node.hpp>

struct mortise_config {
    mortise::Config config;
};

struct mortise_node {
    mortise::Node node;
};

struct mortise_canceller {
    std::stop_source source;
};

struct mortise_hold {
    mortise::Hold hold;
    // Copies, because pointers to them are given away.
    std::string name;
    mortise::Previous previous;
    std::shared_ptr<mortise::capi::LostWatch> watch;
    std::atomic<bool> is_released = false;
};
