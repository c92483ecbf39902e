#include "cosim/program_trace.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

#include "driver/trace/timeline.hpp"

namespace datum::cosim {

namespace {

using trace::Event;
using EventKind = trace::Kind;

constexpr int process = 1;
constexpr std::uint64_t calls_of_a_board = 1'000'000;

std::uint64_t bytes_of(const hw::Descriptor& descriptor) {
  switch (descriptor.opcode()) {
  case hw::Opcode::copy:
  case hw::Opcode::fill:
    return descriptor.bytes();
  case hw::Opcode::copy_region:
    return std::uint64_t{descriptor.region_x_bytes()} * descriptor.region_rows() * descriptor.region_planes();
  default:
    return 0;
  }
}

/// A timeline takes what stands between brackets for the names of arguments.
std::string without_brackets(std::string text) {
  std::ranges::replace(text, '(', '[');
  std::ranges::replace(text, ')', ']');
  return text;
}

}  // namespace

/// Notes what one board does.
class BoardTrace final : public ProgramWatch {
 public:
  BoardTrace(ProgramTrace& trace, board::PcieFunction& function, const std::string& name)
      : trace_(trace),
        function_(function),
        number_(trace.names_.add_board(name)),
        start_ns_(function.clock().now_ns) {
    trace_.names_.add_thread(thread(), fmt::format("operations on {}", name));
  }

  void begins(unsigned operation) override {
    end_operation();
    current_ = &add_call(describe(trace_.program_, operation), calls_of_a_board * number_ + operation + 1);
  }

  void started(Ring& ring) override {
    rings_[ring.number()] = {&ring, 0};
    read_clocks();
    add(EventKind::ring_start, {}).ring = static_cast<std::uint16_t>(ring.number());
  }

  void pushed(Ring& ring, const hw::Descriptor& descriptor) override {
    Event& event = add(EventKind::descriptor,
                       {descriptor.sequence(), static_cast<std::uint64_t>(descriptor.opcode()), 0,
                        bytes_of(descriptor), descriptor.src_address(), descriptor.dst_address()});
    event.ring = static_cast<std::uint16_t>(ring.number());
    event.id = current_ == nullptr ? 0 : current_->id;
    last_pushed_ = descriptor.sequence();
  }

  void rung(Ring& ring) override {
    end_operation();
    add(EventKind::doorbell, {last_pushed_}).ring = static_cast<std::uint16_t>(ring.number());
    if (trace_.order_ == ProgramTrace::Order::one_by_one) {
      read_clocks();  // nothing else waits for it
    }
  }

  void gone(Ring& ring) override { rings_.erase(ring.number()); }

  void waits() override {
    for (auto& [number, watched] : rings_) {
      const hw::CompletionRecord record = watched.ring->record();
      if (record.sequence() != watched.last_record) {
        watched.last_record = record.sequence();
        add(EventKind::completion, {watched.last_record, static_cast<std::uint64_t>(record.status()),
                                    record.timer(), record.cycles()})
            .ring = static_cast<std::uint16_t>(number);
        read_clocks();
      }
    }
  }

  /// A slice of its own: what came of it all.
  void conclude(std::string text) {
    end_operation();
    add_call(std::move(text), calls_of_a_board * (number_ + 1U));
  }

 private:
  struct WatchedRing {
    Ring* ring = nullptr;
    std::uint32_t last_record = 0;
  };

  /// Threads are told apart from rings and processes by being small.
  [[nodiscard]] std::uint32_t thread() const noexcept { return number_ + 1U; }

  [[nodiscard]] std::uint64_t now_ns() { return function_.clock().now_ns - start_ns_; }

  Event& add(EventKind kind, std::initializer_list<std::uint64_t> words) {
    Event& event = trace_.events_.emplace_back();
    event.kind = kind;
    event.name = "";
    event.begin_ns = event.end_ns = now_ns();
    event.board = number_;
    event.word_count = static_cast<std::uint32_t>(words.size());
    std::copy(words.begin(), words.end(), event.words.begin());
    return event;
  }

  Event& add_call(std::string text, std::uint64_t id) {
    trace_.texts_.push_back(without_brackets(std::move(text)));
    Event& event = add(EventKind::api_call, {});
    event.name = trace_.texts_.back().c_str();
    event.id = id;
    event.thread = thread();
    return event;
  }

  void end_operation() {
    if (current_ != nullptr) {
      current_->end_ns = now_ns();
      current_ = nullptr;
    }
  }

  /// TIMER, before the registers behind it take time of a board that is stepped.
  void read_clocks() {
    board::Bar* const registers = function_.bar(0).ok() ? *function_.bar(0) : nullptr;
    if (registers != nullptr) {
      const std::uint64_t timer = registers->read64(hw::timer);
      const std::uint64_t cycles = registers->read64(hw::cycles);
      add(EventKind::clock,
          {timer, registers->read64(hw::timer_hz), cycles, registers->read64(hw::clock_hz)});
    }
  }

  ProgramTrace& trace_;
  board::PcieFunction& function_;
  std::uint8_t number_;
  std::uint64_t start_ns_;
  std::map<unsigned, WatchedRing> rings_;
  Event* current_ = nullptr;
  std::uint64_t last_pushed_ = 0;
};

ProgramTrace::ProgramTrace(const Program& program, Order order) : program_(program), order_(order) {}

ProgramTrace::Outcome ProgramTrace::run(board::PcieFunction& function, const std::string& name) {
  BoardTrace watch(*this, function, name);
  Outcome outcome;
  if (order_ == Order::one_by_one) {
    outcome.place = first_wrong_operation(program_, function, &watch);
    if (outcome.place) {
      const WrongPlace& place = *outcome.place;
      watch.conclude(fmt::format("operation {} went wrong: buffer {} + {} has {:#04x} instead of {:#04x}",
                                 place.operation, place.difference.spot.buffer, place.difference.spot.offset,
                                 place.difference.found, place.difference.expected));
    }
  } else {
    outcome.failure = run_on_board(program_, function, &watch).failure;
    if (!outcome.failure.empty()) {
      watch.conclude(outcome.failure);
    }
  }
  return outcome;
}

Status ProgramTrace::write(const std::string& name) const {
  std::vector<const Event*> events;
  for (const Event& event : events_) {
    events.push_back(&event);
  }
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "w"), &std::fclose);
  if (file == nullptr || !trace::write_timeline(file.get(), events, names_, 0, process)) {
    return Error{ErrorCode::invalid_argument,
                 errno,
                 fmt::format("'{}' cannot be written: {}", shown_text(name), std::strerror(errno)),
                 {}};
  }
  return {};
}

}  // namespace datum::cosim
