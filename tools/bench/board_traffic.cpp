#include "tools/bench/board_traffic.hpp"

#include <deque>
#include <random>

#include "tools/bench/command_objects.hpp"

namespace datum::bench {
namespace {

constexpr double bus_bytes_per_cycle = 64;
constexpr std::size_t mib = 1U << 20U;

/// Memory for as long as it is measured.
class Buffer {
 public:
  Buffer(const Session& session, bool on_device, std::size_t bytes)
      : session_(session), data_(on_device ? session.allocate_device(bytes) : session.allocate_host(bytes)) {}

  ~Buffer() { zeMemFree(session_.context(), data_); }

  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  [[nodiscard]] char* at(std::size_t offset) const { return static_cast<char*>(data_) + offset; }

 private:
  const Session& session_;
  void* data_;
};

/// A list and a queue for each of some streams of copies, which run at the same time.
class Streams {
 public:
  Streams(const Session& session, std::size_t count) : session_(session) {
    for (std::size_t stream = 0; stream < count; ++stream) {
      objects_.emplace_back(session);
    }
  }

  void append_copy(std::size_t stream, void* to, const void* from, std::size_t bytes) {
    objects_[stream].append_copy(to, from, bytes);
  }

  void append_fill(std::size_t stream, void* to, std::uint64_t pattern, std::size_t bytes) {
    objects_[stream].append_fill(to, pattern, bytes);
  }

  /// Cycles from before the first submission to after the last wait; the board stands still in between. The
  /// second run counts: the first one fills the board's TLB.
  [[nodiscard]] std::uint64_t run() {
    for (const CommandObjects& each : objects_) {
      each.close();
    }
    static_cast<void>(run_once());
    return run_once();
  }

 private:
  [[nodiscard]] std::uint64_t run_once() {
    const std::uint64_t before = session_.board_clock().cycles;
    for (const CommandObjects& each : objects_) {
      each.execute();
    }
    for (const CommandObjects& each : objects_) {
      each.wait();
    }
    return session_.board_clock().cycles - before;
  }

  const Session& session_;
  std::deque<CommandObjects> objects_;
};

Figure share(const char* name, std::size_t bus_bytes, std::uint64_t cycles, const char* bus, double goal) {
  return {name,
          100.0 * static_cast<double>(bus_bytes) / (static_cast<double>(cycles) * bus_bytes_per_cycle),
          bus,
          goal,
          Better::higher,
          std::nullopt,
          false};
}

std::vector<Figure> large_copies(const Session& session) {
  constexpr std::size_t bytes = 4 * mib;
  const Buffer host(session, false, bytes);
  const Buffer first(session, true, bytes);
  const Buffer second(session, true, bytes);
  session.copy_cycles(first.at(0), host.at(0), 4096);  // tables and TLB entries that the first copy needs
  const std::uint64_t in = session.copy_cycles(first.at(0), host.at(0), bytes);
  const std::uint64_t across = session.copy_cycles(second.at(0), first.at(0), bytes);
  const std::uint64_t out = session.copy_cycles(host.at(0), second.at(0), bytes);
  // The DRAM's data bus carries every byte of a copy across twice: read and written.
  return {share("board_host_to_device_4m", bytes, in, "% of bus", 94),
          share("board_device_to_host_4m", bytes, out, "% of bus", 94),
          share("board_device_to_device_4m", 2 * bytes, across, "% of DRAM bus", 80)};
}

/// Single lines at random places of the device, over four channels of which `writers` fill and the others
/// copy to the host. A copy from the host would need the host's bus twice, for the descriptor and for the
/// line.
Figure random_lines(const Session& session, const char* name, std::size_t writers, double goal) {
  constexpr std::size_t streams = 4;
  constexpr std::size_t lines_each = 2000;
  constexpr std::size_t line = 64;
  constexpr std::size_t area = 16 * mib;
  const Buffer device(session, true, area);
  const Buffer host(session, false, streams * lines_each * line);
  std::mt19937_64 random(1);
  Streams all(session, streams);
  for (std::size_t number = 0; number < streams * lines_each; ++number) {
    char* const there = device.at(random() % (area / line) * line);
    if (number % streams < writers) {
      all.append_fill(number % streams, there, number, line);
    } else {
      all.append_copy(number % streams, host.at(number * line), there, line);
    }
  }
  return share(name, streams * lines_each * line, all.run(), "% of DRAM bus", goal);
}

/// Each stream copies pages of its own area to another.
Figure page_copies(const Session& session, const char* name, std::size_t streams, double goal) {
  constexpr std::size_t page = 4096;
  constexpr std::size_t pages = 256;
  const Buffer from(session, true, streams * pages * page);
  const Buffer to(session, true, streams * pages * page);
  Streams all(session, streams);
  for (std::size_t number = 0; number < streams * pages; ++number) {
    all.append_copy(number % streams, to.at(number * page), from.at(number * page), page);
  }
  return share(name, 2 * streams * pages * page, all.run(), "% of DRAM bus", goal);
}

/// Two streams read the device, two write it.
Figure two_readers_two_writers(const Session& session) {
  constexpr std::size_t streams = 4;
  constexpr std::size_t bytes = mib;
  const Buffer device(session, true, streams * bytes);
  const Buffer host(session, false, streams * bytes);
  Streams all(session, streams);
  for (std::size_t stream = 0; stream < streams; ++stream) {
    const bool write = stream % 2 != 0;
    char* const there = device.at(stream * bytes);
    char* const here = host.at(stream * bytes);
    all.append_copy(stream, write ? there : here, write ? here : there, bytes);
  }
  return share("board_2_readers_2_writers", streams * bytes, all.run(), "% of DRAM bus", 80);
}

}  // namespace

std::vector<Figure> measure_board_traffic(const Session& session) {
  std::vector<Figure> figures = large_copies(session);
  figures.push_back(page_copies(session, "board_copy_4k_pages", 1, 88));
  figures.push_back(page_copies(session, "board_copy_4k_pages_2_channels", 2, 88));
  figures.push_back(two_readers_two_writers(session));
  figures.push_back(random_lines(session, "board_random_64b_reads", 0, 52));
  figures.push_back(random_lines(session, "board_random_64b_writes", 4, 50));
  figures.push_back(random_lines(session, "board_random_64b_mixed", 2, 48));
  return figures;
}

}  // namespace datum::bench
