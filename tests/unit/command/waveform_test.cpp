// What the driver tells of a run, found again in the waveform of the board.

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include <datum/board/watchdog_mark.hpp>

#include "driver/trace/trace.hpp"
#include "sim/rtl/waveform.hpp"
#include "tests/fakes/deaf_function.hpp"
#include "tests/unit/command/model_bench.hpp"
#include "tests/unit/sim/fst_file.hpp"

namespace datum::test {
namespace {

using nlohmann::json;

/// The value that a signal has at a cycle's end.
std::uint64_t value_at(const std::vector<FstFile::Change>& changes, std::uint64_t cycle) {
  const auto behind =
      std::ranges::find_if(changes, [&](const FstFile::Change& change) { return change.cycle > cycle; });
  return behind == changes.begin() ? 0 : std::prev(behind)->value;
}

/// Its waits are those of a card once it is deaf: the simulation's are so long that the watchdog takes
/// minutes.
class HurriedFunction final : public ForwardingFunction {
 public:
  HurriedFunction(std::unique_ptr<board::PcieFunction> inner, const std::atomic<bool>& deaf)
      : ForwardingFunction(std::move(inner)), deaf_(deaf) {}

  [[nodiscard]] board::Clock clock() noexcept override {
    board::Clock now = ForwardingFunction::clock();
    now.wait_scale = deaf_.load() ? 1 : now.wait_scale;
    return now;
  }

 private:
  const std::atomic<bool>& deaf_;
};

class WaveformOfDriver : public ModelBench {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / "datum-waveform-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    waveform_ = folder_ + "/run.fst";
    trace_ = folder_ + "/run.json";
  }

  void TearDown() override {
    ModelBench::TearDown();
    ::unsetenv("DATUM_TRACE");
    std::filesystem::remove_all(folder_);
  }

  std::unique_ptr<board::PcieFunction> decorate(std::unique_ptr<board::PcieFunction> function) override {
    return std::make_unique<HurriedFunction>(std::make_unique<DeafFunction>(std::move(function), deaf_),
                                             deaf_);
  }

  /// The board's files are whole.
  void close() { ModelBench::TearDown(); }

  /// What the trace has of the descriptors that ended well.
  [[nodiscard]] std::vector<json> ended_descriptors() const {
    std::ifstream file(trace_);
    std::vector<json> found;
    const json timeline = json::parse(file);
    for (const json& event : timeline.at("traceEvents")) {
      if (event.value("cat", "") == "descriptor" && event.at("args").at("status") == "OK") {
        found.push_back(event.at("args"));
      }
    }
    return found;
  }

  std::string folder_;
  std::string waveform_;
  std::string trace_;
  std::atomic<bool> deaf_{false};
};

TEST_F(WaveformOfDriver,
       given_a_free_running_board_when_traced_then_each_end_is_in_the_waveform_at_the_cycle_that_is_told) {
  ::setenv("DATUM_TRACE", trace_.c_str(), 1);
  trace::start_if_wanted();
  ASSERT_TRUE(trace::on());
  open_board("rtl:memory=16M,wave=" + waveform_ + ",wave_scope=u_regs+u_dma");
  void* const memory = device_memory(16384);
  for (unsigned turn = 0; turn < 3; ++turn) {
    const Bytes bytes = pattern(3000 + turn * 4000, turn);
    ASSERT_TRUE(succeeded(copy_and_wait(memory, bytes.data(), bytes.size())));
    ASSERT_EQ(read_back(memory, bytes.size()), bytes);
  }
  close();
  trace::finish();

  const std::string board = "TOP.datum_board.";
  const FstFile waveform(waveform_);
  const auto cycles = waveform.changes_of(board + "u_regs.cycles_q");
  const auto timer = waveform.changes_of(board + "u_dma.timer_i");
  const auto number = waveform.changes_of(board + "u_dma.u_record.record_sequence");
  const std::vector<json> descriptors = ended_descriptors();
  ASSERT_GE(descriptors.size(), 6U);
  for (const json& descriptor : descriptors) {
    // The reset that opens a board begins CYCLES anew; what is traced comes after the last of them.
    const auto told = std::find_if(cycles.rbegin(), cycles.rend(), [&](const FstFile::Change& change) {
      return change.value == descriptor.at("cycle").get<std::uint64_t>();
    });
    ASSERT_NE(told, cycles.rend()) << descriptor;
    EXPECT_EQ(value_at(timer, told->cycle), descriptor.at("timer").get<std::uint64_t>()) << descriptor;
    EXPECT_EQ(value_at(number, told->cycle), descriptor.at("sequence").get<std::uint64_t>()) << descriptor;
  }
}

TEST_F(WaveformOfDriver,
       given_a_board_that_does_not_go_on_when_the_driver_gives_it_up_then_the_cycles_before_that_are_there) {
  open_board("rtl:memory=16M,wave=" + waveform_ +
             ",wave_on=watchdog,wave_last=1000,wave_next=50,wave_scope=u_regs");
  {
    Owned<CommandQueue> on = queue();
    Owned<CommandList> work = list();
    ASSERT_TRUE(succeeded(work->append(fill(device_memory(4096), 4096, 1), nullptr, {})));
    ASSERT_TRUE(succeeded(work->close()));
    ASSERT_TRUE(succeeded(run(*on, *work)));
    ASSERT_TRUE(succeeded(on->synchronize(patience_ns)));
    deaf_ = true;
    ASSERT_TRUE(succeeded(run(*on, *work)));
    const Status waited = on->synchronize(patience_ns);
    ASSERT_EQ(code(waited), ErrorCode::device_lost);
    EXPECT_NE(waited.error().message.find("does not go on"), std::string::npos) << waited.error().message;
  }
  close();

  const FstFile newest(waveform_);
  const auto scratch = newest.changes_of("TOP.datum_board.u_regs.scratch_q");
  ASSERT_FALSE(scratch.empty());
  EXPECT_EQ(scratch.back().value, board::watchdog_mark);
  const std::uint64_t given_up = scratch.back().cycle;
  EXPECT_LE(newest.last_cycle(), given_up + 50) << "nothing follows but what was asked for";
  EXPECT_LE(FstFile(sim::file_before(waveform_)).first_cycle() + 1000, given_up);
}

}  // namespace
}  // namespace datum::test
