// Figures of the DMA alone, in exact cycles: 64-byte bus, memory of fixed latency, translations that are
// known.
#pragma once

#include <string>
#include <vector>

namespace datum::bench {

struct EngineFigure {
  std::string name;
  double value = 0;
  std::string unit;
  double goal = 0;
  std::string better;  ///< "higher" or "lower"
};

/// Runs all of them; some seconds. Throws std::runtime_error when a copy is wrong.
///
/// latN: N cycles from a read's address to its first data; a write is answered one cycle after its last data.
/// Queued figures count from the doorbell to the answer of the last write; single ones from the cycle in
/// which the descriptor arrives.
std::vector<EngineFigure> engine_bench_figures();

}  // namespace datum::bench
