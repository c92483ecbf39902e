#include "driver/trace/timeline.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include <datum/hw/registers.hpp>

#include "driver/trace/json_writer.hpp"
#include "driver/trace/ring_slices.hpp"

namespace datum::trace {

namespace {

/// Numbers of processes in the viewer's sense: above what a kernel gives.
constexpr std::uint64_t first_board_process = 100'000'000;
constexpr std::uint64_t notice_thread = 1000;  ///< above any ring
constexpr std::uint64_t longest_notice_ns = 1000;

constexpr std::uint64_t process_of(std::uint8_t board) { return first_board_process + board; }

/// What the trace has of one board.
struct BoardEvents {
  BoardTime time;
  std::map<std::uint16_t, std::vector<const Event*>> rings;
  std::vector<const Event*> interrupts;
  std::vector<const Event*> counters;
};

/// A record that the host took note of.
struct Notice {
  const Event* completion = nullptr;
  std::uint64_t begin_ns = 0;
  bool by_interrupt = false;
  std::vector<std::uint64_t> arrows;
};

class Timeline {
 public:
  Timeline(std::FILE* file, int process) : writer_(file), process_(static_cast<std::uint64_t>(process)) {}

  bool write(const std::vector<const Event*>& events, const Names& names, std::uint64_t lost) {
    name_tracks(names);
    sort_out(events);
    for (const auto& [number, board] : boards_) {
      write_board(number, board);
    }
    for (const Event* event : events) {
      write_host_event(*event);
    }
    return writer_.finish(
        fmt::format(R"("clock": "CLOCK_MONOTONIC", "events": {}, "lost_events": {})", events.size(), lost));
  }

 private:
  void name_tracks(const Names& names) {
    writer_.name_process(process_, fmt::format("process {}", process_), 0);
    for (const Names::Name& thread : names.threads()) {
      if (const std::uint32_t number = thread.number.load(std::memory_order_acquire); number != 0) {
        writer_.name_thread({process_, number}, thread.text.data(), number == process_ ? 0 : number);
      }
    }
    for (const Names::Name& board : names.boards()) {
      if (const std::uint32_t number = board.number.load(std::memory_order_acquire); number != 0) {
        const std::uint64_t track = process_of(static_cast<std::uint8_t>(number - 1));
        writer_.name_process(track, fmt::format("board {}: {}", number - 1, board.text.data()), number);
        writer_.name_thread({track, notice_thread}, "interrupts and records", notice_thread);
      }
    }
  }

  void sort_out(const std::vector<const Event*>& events) {
    for (const Event* event : events) {
      switch (event->kind) {
      case Kind::api_call:
        calls_[event->id] = event;
        break;
      case Kind::clock:
        boards_[event->board].time.add_reading(*event);
        break;
      case Kind::ring_start:
      case Kind::descriptor:
      case Kind::doorbell:
      case Kind::completion:
        boards_[event->board].rings[event->ring].push_back(event);
        break;
      case Kind::interrupt:
        boards_[event->board].interrupts.push_back(event);
        break;
      case Kind::counters:
        boards_[event->board].counters.push_back(event);
        break;
      default:
        break;
      }
    }
  }

  void write_board(std::uint8_t number, const BoardEvents& board) {
    std::vector<Notice> notices;
    for (const auto& [ring, events] : board.rings) {
      const Track track{process_of(number), ring};
      writer_.name_thread(track, fmt::format("ring {}", ring), ring);
      for (const DescriptorSlice& slice : slices_of_ring(events, board.time)) {
        write_descriptor(track, slice, board, notices);
      }
    }
    write_notices({process_of(number), notice_thread}, notices);
    for (const Event* event : board.counters) {
      for (std::size_t i = 0; i < event->word_count && event->id + i < counter_names.size(); ++i) {
        writer_.counter(process_of(number), counter_names[event->id + i], event->begin_ns, event->words[i]);
      }
    }
  }

  void write_descriptor(Track track, const DescriptorSlice& slice, const BoardEvents& board,
                        std::vector<Notice>& notices) {
    const Event& descriptor = *slice.descriptor;
    const auto opcode = static_cast<hw::Opcode>(descriptor.word(DescriptorWord::opcode));
    const auto status =
        slice.completion == nullptr
            ? std::string_view("no record")
            : hw::name_of(static_cast<hw::Status>(slice.completion->word(CompletionWord::status)));
    writer_.slice(track, hw::name_of(opcode), "descriptor", slice.begin_ns, slice.end_ns,
                  fmt::format(R"("sequence": {}, "bytes": {}, "source": "{:#x}", "destination": "{:#x}", )"
                              R"("status": "{}", "call": {}{})",
                              descriptor.word(DescriptorWord::number), descriptor.word(DescriptorWord::bytes),
                              descriptor.word(DescriptorWord::source),
                              descriptor.word(DescriptorWord::destination), status, descriptor.id,
                              board_time(slice, board.time)));
    const auto call = calls_.find(descriptor.id);
    if (descriptor.id == 0 || call == calls_.end()) {
      return;  // the driver's own, or the call's event was overwritten
    }
    const std::uint64_t arrow = ++arrows_;
    const bool notified =
        slice.completion != nullptr && (descriptor.word(DescriptorWord::flags) & descriptor_interrupts) != 0;
    writer_.arrow('s', arrow, {process_, call->second->thread}, descriptor.begin_ns);
    writer_.arrow(notified ? 't' : 'f', arrow, track, slice.begin_ns);
    if (notified) {
      notice_of(*slice.completion, slice.end_ns, board, notices).arrows.push_back(arrow);
    }
  }

  /// Where a waveform has the descriptor's end.
  static std::string board_time(const DescriptorSlice& slice, const BoardTime& time) {
    if (slice.completion == nullptr) {
      return {};
    }
    const std::uint64_t timer = slice.completion->word(CompletionWord::timer);
    const std::uint64_t told = slice.completion->word(CompletionWord::cycles);
    const auto cycle = told != 0 ? std::optional(told) : time.cycle(timer);
    return fmt::format(R"(, "timer": {}{})", timer, cycle ? fmt::format(R"(, "cycle": {})", *cycle) : "");
  }

  /// The first interrupt between the record and when it was seen is taken to be its own.
  static Notice& notice_of(const Event& completion, std::uint64_t record_ns, const BoardEvents& board,
                           std::vector<Notice>& notices) {
    if (!notices.empty() && notices.back().completion == &completion) {
      return notices.back();
    }
    Notice notice{&completion, completion.begin_ns, false, {}};
    for (const Event* interrupt : board.interrupts) {
      if (interrupt->end_ns >= record_ns && interrupt->end_ns <= completion.begin_ns) {
        notice.begin_ns = interrupt->end_ns;
        notice.by_interrupt = true;
        break;
      }
    }
    notices.push_back(std::move(notice));
    return notices.back();
  }

  void write_notices(Track track, std::vector<Notice>& notices) {
    std::stable_sort(notices.begin(), notices.end(),
                     [](const Notice& a, const Notice& b) { return a.begin_ns < b.begin_ns; });
    std::uint64_t free_ns = 0;
    for (Notice& notice : notices) {
      // One interrupt may bring several records: they stand one behind the other.
      const std::uint64_t begin_ns = std::max(notice.begin_ns, free_ns);
      const std::uint64_t end_ns =
          begin_ns + std::clamp<std::uint64_t>(notice.completion->begin_ns -
                                                   std::min(notice.begin_ns, notice.completion->begin_ns),
                                               100, longest_notice_ns);
      free_ns = end_ns;
      writer_.slice(
          track, notice.by_interrupt ? "interrupt" : "seen by polling", "interrupt", begin_ns, end_ns,
          fmt::format(R"("ring": {}, "sequence": {}, "seen_by_thread": {})", notice.completion->ring,
                      notice.completion->word(CompletionWord::number), notice.completion->thread));
      for (const std::uint64_t arrow : notice.arrows) {
        writer_.arrow('f', arrow, track, begin_ns);
      }
    }
  }

  void write_host_event(const Event& event) {
    const Track track{process_, event.thread};
    switch (event.kind) {
    case Kind::api_call:
      writer_.slice(track, name_of(event.name), "api", event.begin_ns, event.end_ns, call_arguments(event));
      break;
    case Kind::span:
      writer_.slice(track, event.name, "driver", event.begin_ns, event.end_ns, board_argument(event));
      break;
    case Kind::interrupt:
      writer_.slice(track, "wait for interrupt", "wait", event.begin_ns, event.end_ns, board_argument(event));
      break;
    case Kind::allocation:
      writer_.life('b', process_, event.name, event.words[0], event.begin_ns,
                   fmt::format(R"("pointer": "{:#x}", "bytes": {})", event.words[0], event.words[1]));
      living_[event.words[0]] = event.name;
      break;
    case Kind::free:
      if (const auto alive = living_.find(event.words[0]); alive != living_.end()) {
        writer_.life('e', process_, alive->second, event.words[0], event.begin_ns, "");
        living_.erase(alive);
      }
      break;
    default:
      break;
    }
  }

  static std::string_view name_of(std::string_view signature) {
    return signature.substr(0, signature.find('('));
  }

  static std::string board_argument(const Event& event) { return fmt::format(R"("board": {})", event.board); }

  /// Arguments by the names that the signature gives them.
  static std::string call_arguments(const Event& event) {
    std::string text =
        fmt::format(R"("call": {}, "result": "{:#x}")", event.id, static_cast<std::uint32_t>(event.result));
    std::string_view names = event.name;
    names.remove_prefix(std::min(names.find('(') + 1, names.size()));
    for (std::size_t i = 0; i < event.word_count && !names.empty(); ++i) {
      const std::size_t end = std::min(names.find_first_of(",)"), names.size());
      text += fmt::format(R"(, {}: "{:#x}")", quoted(names.substr(0, end)), event.words[i]);
      names.remove_prefix(std::min(names.find_first_not_of(", )", end), names.size()));
    }
    return text;
  }

  JsonWriter writer_;
  std::uint64_t process_;
  std::uint64_t arrows_ = 0;
  std::map<std::uint64_t, const Event*> calls_;
  std::map<std::uint8_t, BoardEvents> boards_;
  std::map<std::uint64_t, const char*> living_;
};

}  // namespace

bool write_timeline(std::FILE* file, const std::vector<const Event*>& events, const Names& names,
                    std::uint64_t lost_events, int process) {
  return Timeline(file, process).write(events, names, lost_events);
}

}  // namespace datum::trace
