// Everything but <mortise/async.hpp>, which needs Asio.
#pragma once

#include <mortise/boot_clock.hpp>
#include <mortise/certificates.hpp>
#include <mortise/config.hpp>
#include <mortise/directory_errc.hpp>
#include <mortise/duration.hpp>
#include <mortise/enums.hpp>
#include <mortise/errc.hpp>
#include <mortise/escaped.hpp>
#include <mortise/event.hpp>
#include <mortise/fence_gate.hpp>
#include <mortise/fencing_token.hpp>
#include <mortise/hold.hpp>
#include <mortise/hold_set.hpp>
#include <mortise/info.hpp>
#include <mortise/lock_error.hpp>
#include <mortise/lock_request.hpp>
#include <mortise/locker.hpp>
#include <mortise/mutex.hpp>
#include <mortise/node.hpp>
#include <mortise/node_id.hpp>
#include <mortise/options.hpp>
#include <mortise/recursive_mutex.hpp>
#include <mortise/remote.hpp>
#include <mortise/shared_mutex.hpp>
#include <mortise/subscription.hpp>
