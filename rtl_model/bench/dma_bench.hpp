// datum_dma alone on a bench: memory behind its AXI ports, a table behind its translation ports, and
// software's view of the rings.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <datum/hw/registers.hpp>

#include "rtl_model/bench/sparse_memory.hpp"

class Vdatum_dma_bench_top;
class VerilatedContext;

namespace datum::rtl_bench {

/// How the surroundings of the DMA behave.
struct Surroundings {
  unsigned read_latency_cycles = 1;   ///< from the address to the first data
  unsigned write_latency_cycles = 1;  ///< from the last data to the answer
  unsigned translate_cycles = 1;      ///< from a question to its answer
  unsigned stall_percent = 0;         ///< chance of each ready, and of each beat held back, in a cycle
  std::uint64_t seed = 1;
};

/// One answer of the translation table.
struct Mapping {
  Target target = Target::dram;
  std::uint64_t frame = 0;  ///< 4 KiB frame
  bool writable = true;
  hw::FaultReason reason = hw::FaultReason::none;  ///< else refused
};

struct Fault {
  unsigned ring = 0;
  hw::Status status = hw::Status::ok;
  hw::FaultReason reason = hw::FaultReason::none;
  bool write = false;
  unsigned space = 0;
  std::uint64_t address = 0;
  std::uint32_t sequence = 0;
};

/// A burst, as it was accepted.
struct Burst {
  unsigned manager = 0;
  bool write = false;
  Place place;
  unsigned beats = 0;
  std::uint64_t cycle = 0;
};

/// Spaces 0, 1 and 2 map every page to the same page of DRAM, host and on-chip memory unless map() says
/// otherwise. Not for several threads; a bench fails by std::runtime_error with what it saw.
class DmaBench {
 public:
  static constexpr unsigned channels = 4;
  static constexpr unsigned managers = channels + 1;
  static constexpr unsigned translators = 2 * channels + 1;

  explicit DmaBench(const Surroundings& surroundings = {});
  ~DmaBench();
  DmaBench(const DmaBench&) = delete;
  DmaBench& operator=(const DmaBench&) = delete;

  void reset();
  void step();
  void run(std::uint64_t cycles);
  /// Steps until `done`; throws when that takes more than `limit` cycles.
  void run_until(const std::function<bool()>& done, std::uint64_t limit = 200000);
  void run_until_quiescent(std::uint64_t limit = 300000);

  void write_register(std::uint32_t bar0_offset, std::uint32_t value);
  [[nodiscard]] std::uint32_t read_register(std::uint32_t bar0_offset);
  void write_register64(std::uint32_t bar0_offset, std::uint64_t value);

  void kick_all();
  void set_drain(bool on);
  [[nodiscard]] bool drained() const;
  /// A drain from beginning to end: changes of the mapping count from here on.
  void invalidate();
  [[nodiscard]] bool quiescent() const;
  [[nodiscard]] bool parked() const;
  void set_channels(unsigned count);
  void set_park_recheck_ns(std::uint32_t ns);

  void set_timer(std::uint64_t ns) { timer_ns_ = ns; }

  [[nodiscard]] std::uint64_t timer_ns() const { return timer_ns_; }

  [[nodiscard]] std::uint64_t cycle() const { return cycle_; }

  void set_stall_percent(unsigned percent) { surroundings_.stall_percent = percent; }

  void map(unsigned space, std::uint64_t page, Mapping mapping) { mappings_[{space, page}] = mapping; }

  void unmap_changes() { mappings_.clear(); }

  /// Reads (writes) of the 64-byte word at `place` are answered with an error.
  void fail_reads(Place place) { bad_reads_.push_back(place); }

  void fail_writes(Place place) { bad_writes_.push_back(place); }

  void fail_nothing() { bad_reads_.clear(), bad_writes_.clear(); }

  /// Read data, and answers to writes, are held back while true.
  void hold_answers(bool on) { hold_ = on; }

  SparseMemory& memory() { return memory_; }

  [[nodiscard]] const std::vector<unsigned>& interrupts() const { return interrupts_; }

  [[nodiscard]] const std::vector<Fault>& faults() const { return faults_; }

  [[nodiscard]] const std::vector<Burst>& bursts() const { return bursts_; }

  void forget_history();
  [[nodiscard]] std::uint64_t outstanding() const;

  [[nodiscard]] std::uint64_t descriptors_done() const { return descriptors_done_; }

  [[nodiscard]] std::uint64_t questions() const { return questions_; }

  /// Cycle of the last answer to a write of a channel.
  [[nodiscard]] std::uint64_t last_data_answer() const { return last_data_answer_; }

  /// Cycle in which the last descriptor came.
  [[nodiscard]] std::uint64_t last_descriptor_arrival() const { return last_descriptor_arrival_; }

  void refuse_interrupts(bool on) { refuse_interrupts_ = on; }

 private:
  struct ReadBurst {
    unsigned id = 0;
    Place place;
    unsigned beats = 0;
    unsigned done = 0;
    std::uint64_t ready_at = 0;
  };

  struct WriteBurst {
    unsigned id = 0;
    Place place;
    unsigned beats = 0;
    std::vector<std::pair<std::array<std::uint8_t, 64>, std::uint64_t>> data;
    std::uint64_t ready_at = 0;
  };

  struct Port {
    std::deque<ReadBurst> reads;
    std::deque<WriteBurst> collecting;
    std::deque<WriteBurst> answering;
    bool r_valid = false;
    bool b_valid = false;
    bool ar_ready = false, aw_ready = false, w_ready = false;
  };

  struct Question {
    unsigned space = 0;
    std::uint64_t page = 0;
    bool write = false;
    std::uint64_t ready_at = 0;
    Mapping answer;  ///< as of the moment of the question: the oldest that it may be
  };

  bool chance();
  void drive_port(unsigned m);
  void sample_port(unsigned m);
  void sample_addresses(unsigned m, Port& port);
  void sample_data(unsigned m, Port& port);
  void drive_translators();
  void sample_translators();
  void sample_events();
  [[nodiscard]] Mapping translate(const Question& question) const;
  void check(bool good, const std::string& what) const;
  std::uint32_t access_register(bool write, std::uint32_t bar0_offset, std::uint32_t value);

  Surroundings surroundings_;
  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vdatum_dma_bench_top> model_;
  std::mt19937_64 random_;
  SparseMemory memory_;
  std::map<std::pair<unsigned, std::uint64_t>, Mapping> mappings_;
  std::vector<Place> bad_reads_;
  std::vector<Place> bad_writes_;
  std::array<Port, managers> ports_;
  std::array<std::deque<Question>, translators> questions_waiting_;
  std::vector<unsigned> interrupts_;
  std::vector<Fault> faults_;
  std::vector<Burst> bursts_;
  std::uint64_t cycle_ = 0;
  std::uint64_t timer_ns_ = 0;
  std::uint64_t descriptors_done_ = 0;
  std::uint64_t questions_ = 0;
  std::uint64_t last_data_answer_ = 0;
  std::uint64_t last_descriptor_arrival_ = 0;
  bool hold_ = false;
  bool refuse_interrupts_ = false;
};

}  // namespace datum::rtl_bench
