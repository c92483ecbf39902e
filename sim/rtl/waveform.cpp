#include "sim/rtl/waveform.hpp"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <sys/stat.h>
#include <utility>

namespace datum::sim {

namespace {

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
/// The first look at a file's size, and the least between two: a flush costs a few kilobytes.
constexpr std::uint64_t first_look_cycles = 1024;
constexpr std::uint64_t least_look_cycles = 128;
constexpr std::uint64_t most_look_cycles = 1ULL << 20U;
/// What a file grows by when it is closed: the names of the signals. Those of large designs take more, and
/// for them one asks for large files.
constexpr std::uint64_t least_end_bytes = 128ULL << 10U;
constexpr std::uint64_t share_of_end = 64;

std::uint64_t room_for_cycles(std::uint64_t bytes) {
  return bytes - std::max(least_end_bytes, bytes / share_of_end);
}

std::uint64_t bytes_of(const std::string& file) {
  struct stat status {};

  return ::stat(file.c_str(), &status) == 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

Waveform::Waveform(VerilatedBoard& board, const WaveformOptions& options, std::string file,
                   std::vector<std::string> scopes)
    : board_(board),
      options_(options),
      file_(std::move(file)),
      scopes_(std::move(scopes)),
      keeps_last_(options.last_cycles.has_value()),
      windows_(windows_of(options)),
      most_bytes_(room_for_cycles(options.size_bytes.value_or(default_waveform_bytes) / windows_ /
                                  (keeps_last_ ? 2 : 1))) {
  arm();
}

void Waveform::arm() {
  const std::size_t index = window_ - 1;
  const bool at_trigger = !options_.triggers.empty() && !keeps_last_;
  begin_ = at_trigger ? never : 0;
  if (index < options_.from_cycles.size()) {
    begin_ = options_.from_cycles[index];
  }
  end_ = index < options_.to_cycles.size() ? options_.to_cycles[index] + 1 : never;
  triggered_ = false;
  ends_ = false;
}

void Waveform::end_window(std::uint64_t cycle) {
  if (window_ == windows_) {
    finish();
    return;
  }
  board_.close_waveform();
  stage_ = Stage::waits;
  ++window_;
  arm();
  decide(cycle);  // the next may begin at once
}

void Waveform::trigger() noexcept {
  triggered_ = true;
  due_ = 0;
}

void Waveform::finish() {
  if (stage_ == Stage::records) {
    board_.close_waveform();
  }
  stage_ = Stage::is_done;
  due_ = never;
}

void Waveform::open(std::uint64_t cycle) {
  board_.open_waveform(file(), scopes_);
  stage_ = Stage::records;
  opened_ = cycle;
  check_ = cycle + first_look_cycles;
  flushed_ = false;
}

void Waveform::begin_other_file(std::uint64_t cycle) {
  board_.close_waveform();
  static_cast<void>(std::rename(file().c_str(), file_before(file()).c_str()));
  open(cycle);
}

bool Waveform::check_size(std::uint64_t cycle) {
  if (!flushed_) {
    board_.flush_waveform();
    flushed_ = true;
    check_ = cycle + 1;
    return true;
  }
  flushed_ = false;
  const std::uint64_t bytes = bytes_of(file());
  const std::uint64_t bytes_a_cycle = bytes / (cycle - opened_) + 1;
  const std::uint64_t left = most_bytes_ - std::min(bytes, most_bytes_);
  check_ = cycle + std::clamp(left / bytes_a_cycle / 2, least_look_cycles, most_look_cycles);
  return left > 2 * least_look_cycles * bytes_a_cycle;
}

void Waveform::decide(std::uint64_t cycle) {
  if (stage_ == Stage::is_done) {
    due_ = never;
    return;
  }
  if (stage_ == Stage::waits) {
    if (!triggered_ && cycle < begin_) {
      due_ = begin_;
      return;
    }
    open(cycle);
  }
  if (triggered_ && !ends_) {
    ends_ = true;
    end_ = options_.next_cycles ? cycle + *options_.next_cycles : never;
  }
  if (cycle >= end_) {
    end_window(cycle);
    return;
  }
  // What led to the trigger stays: no other file begins behind it.
  const bool alternates = keeps_last_ && !ends_;
  const std::uint64_t full = alternates ? opened_ + *options_.last_cycles : never;
  if (cycle >= full) {
    begin_other_file(cycle);
  } else if (cycle >= check_ && !check_size(cycle)) {
    if (!alternates) {
      end_window(cycle);
      return;
    }
    begin_other_file(cycle);
  }
  due_ = std::min({end_, check_, alternates ? opened_ + *options_.last_cycles : never});
}

}  // namespace datum::sim
