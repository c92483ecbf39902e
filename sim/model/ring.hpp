// One descriptor ring of the golden model.
#pragma once

#include <cstdint>

#include <datum/hw/registers.hpp>

namespace datum::sim {

/// Why a descriptor failed.
struct Failure {
  hw::Status status = hw::Status::ok;
  hw::FaultReason reason = hw::FaultReason::none;
  bool write = false;
  unsigned space = 0;
  std::uint64_t address = 0;

  [[nodiscard]] bool happened() const noexcept { return status != hw::Status::ok; }
};

/// How far the descriptor at work has come. A large transfer is done in slices, so that rings share the model
/// and can be stopped.
struct Progress {
  std::uint64_t bytes = 0;  ///< of the range, or of the row
  std::uint64_t row = 0;
  std::uint64_t plane = 0;
};

/// Large members first: the model keeps many of these side by side.
struct Ring {
  // Work.
  hw::Descriptor descriptor;
  hw::CompletionRecord record;
  Failure record_failure;  ///< what the record reports
  Progress progress;
  std::uint64_t recheck_at_ns = 0;  ///< of TIMER, when parked; 0: never
  bool fetched = false;             ///< `descriptor` is valid
  bool begun = false;               ///< HEAD stands behind it already
  bool parked = false;
  bool looking = false;       ///< the word that it waits for is on its way
  bool word_changed = false;  ///< and was written, or the ring kicked, meanwhile: the answer may be old
  bool record_due = false;    ///< `record` must be written before anything else

  // Configuration.
  bool enabled = false;
  std::uint32_t size_log2 = 0;
  std::uint32_t extra_turns = 0;  ///< that it may take at a time, beyond the first
  std::uint64_t base = 0;
  std::uint64_t completion = 0;
  std::uint64_t spaces = 0;

  // Doorbell page.
  std::uint64_t fault_address = 0;
  std::uint32_t tail = 0;
  std::uint32_t head = 0;
  std::uint32_t fault_info = 0;
  std::uint32_t fault_sequence = 0;
  bool faulted = false;

  [[nodiscard]] bool has_work() const noexcept {
    return enabled && !faulted && (record_due || fetched || head != tail);
  }

  [[nodiscard]] bool runnable() const noexcept { return has_work() && !parked; }

  [[nodiscard]] hw::RingState state() const noexcept {
    if (!enabled) {
      return hw::RingState::disabled;
    }
    if (faulted) {
      return hw::RingState::faulted;
    }
    if (parked) {
      return hw::RingState::parked;
    }
    return has_work() ? hw::RingState::active : hw::RingState::idle;
  }

  [[nodiscard]] bool may_name(unsigned space) const noexcept {
    for (unsigned slot = 0; slot < 64; slot += 16) {
      const auto entry = static_cast<unsigned>(spaces >> slot) & 0xffffU;
      if ((entry & 0x8000U) != 0 && (entry & 0x7fffU) == space) {
        return true;
      }
    }
    return false;
  }

  void start() noexcept {
    enabled = true;
    head = tail = 0;
    faulted = parked = fetched = begun = looking = word_changed = record_due = false;
    fault_info = fault_sequence = 0;
    fault_address = 0;
    progress = {};
  }

  void stop() noexcept {
    enabled = false;
    faulted = parked = fetched = begun = looking = word_changed = record_due = false;
    progress = {};
  }
};

}  // namespace datum::sim
