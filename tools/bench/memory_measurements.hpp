// What of memory any Level Zero driver can be asked, so that Datum and a peer answer the same code.
#pragma once

#include <vector>

#include "tools/bench/figure.hpp"
#include "tools/bench/session.hpp"

namespace datum::bench {

/// Allocate+free pairs alone, with many live, and from several threads; pointer queries; IPC handles. A part
/// that another driver than Datum refuses is left out; Datum's failures are thrown. Only Datum is asked with
/// more than 30,000 live, and to copy: a driver without its device executes nothing.
std::vector<Figure> measure_memory(const Session& session);

}  // namespace datum::bench
