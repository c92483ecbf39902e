// The Verilated board as an engine: what happens when the model cannot go on, and its files.

#include <filesystem>
#include <string>
#include <unistd.h>

#include <gtest/gtest.h>

#include "rtl_model/verilated_runtime/verilated_failure.hpp"
#include "sim/backend.hpp"
#include "sim/rtl/rtl_engine.hpp"

namespace datum::sim {
namespace {

/// A board that fails, stands still, or no longer takes register reads, after a number of evaluations.
class FragileBoard final : public VerilatedBoard {
 public:
  enum class End : std::uint8_t { fails, stands_still, takes_no_reads };

  FragileBoard(unsigned evaluations, End end) : inner_(make_fast_board({})), left_(evaluations), end_(end) {}

  void evaluate() override {
    if (left_ == 0) {
      if (end_ == End::fails) {
        throw rtl_model::ModelFailure("assertion of the test");
      }
      if (end_ == End::takes_no_reads) {
        inner_->evaluate();
        inner_->pins().s_axil_bar0_arready_o = 0;
        inner_->pins().s_axil_bar0_rvalid_o = 0;
      }
      return;
    }
    --left_;
    inner_->evaluate();
  }

  void open_waveform(const std::string&, const std::vector<std::string>&) override {}

  void dump(std::uint64_t) override {}

  void flush_waveform() override {}

  void close_waveform() override {}

  [[nodiscard]] BoardPins& pins() noexcept override { return inner_->pins(); }

 private:
  std::unique_ptr<VerilatedBoard> inner_;
  unsigned left_;
  End end_;
};

class RtlEngineTest : public ::testing::Test {
 protected:
  /// The first board is fragile, those after it are not.
  void make(unsigned evaluations, FragileBoard::End end) {
    engine_ = std::make_unique<RtlEngine>(
        EngineSurroundings{options_, dram_, bus_, timebase_, hash_},
        [this, evaluations, end](const VerilatedSettings& settings) -> std::unique_ptr<VerilatedBoard> {
          if (++boards_ == 1) {
            return std::make_unique<FragileBoard>(evaluations, end);
          }
          return make_fast_board(settings);
        });
    engine_->power_on();
  }

  static BoardOptions small_board() {
    BoardOptions options;
    options.scheme = Scheme::rtl;
    options.memory_bytes = options.aperture_bytes = options.window_bytes = 16ULL << 20U;
    options.step_locked = true;
    return options;
  }

  BoardOptions options_ = small_board();
  DramArray dram_{std::move(DramArray::create(16ULL << 20U)).value()};
  Iommu iommu_{{39, 0, 0}};
  Interrupts interrupts_{66};
  TransactionHash hash_;
  HostBus bus_{iommu_, interrupts_, hash_};
  Timebase timebase_{true};
  unsigned boards_ = 0;
  std::unique_ptr<RtlEngine> engine_;
};

constexpr unsigned long_enough_to_start = 5000;

TEST_F(RtlEngineTest, a_failed_assertion_makes_the_board_lost_with_its_text_and_cycle) {
  make(long_enough_to_start, FragileBoard::End::fails);
  EXPECT_EQ(engine_->lost(), "");
  EXPECT_EQ(engine_->read_register32(hw::magic), hw::magic_value);
  while (engine_->lost().empty()) {
    engine_->write_register32(hw::scratch, 1);
  }
  EXPECT_NE(engine_->lost().find("assertion of the test"), std::string::npos) << engine_->lost();
  EXPECT_NE(engine_->lost().find(std::to_string(engine_->cycle())), std::string::npos) << engine_->lost();
  EXPECT_EQ(engine_->read_register32(hw::magic), ~0U);
  engine_->write_register64(hw::scratch, 1);
  EXPECT_TRUE(engine_->run(100).quiescent);
}

TEST_F(RtlEngineTest, a_power_on_builds_a_lost_board_anew_and_keeps_its_memory) {
  make(long_enough_to_start, FragileBoard::End::fails);
  dram_.run(0x5000, 1)[0] = std::byte{0x42};
  while (engine_->lost().empty()) {
    engine_->write_register32(hw::scratch, 1);
  }
  engine_->power_on();
  EXPECT_EQ(boards_, 2U);
  EXPECT_EQ(engine_->lost(), "");
  EXPECT_EQ(engine_->read_register32(hw::magic), hw::magic_value);
  std::byte byte{};
  engine_->read_aperture(0x5000, {&byte, 1});
  EXPECT_EQ(byte, std::byte{0x42});
}

TEST_F(RtlEngineTest, a_controller_that_stands_still_misses_a_refresh_and_the_board_is_lost) {
  make(long_enough_to_start, FragileBoard::End::stands_still);
  while (engine_->lost().empty()) {
    engine_->write_register32(hw::scratch, 1);
  }
  EXPECT_NE(engine_->lost().find("t_refi"), std::string::npos) << engine_->lost();
}

TEST_F(RtlEngineTest, a_board_that_does_not_answer_is_lost) {
  make(long_enough_to_start, FragileBoard::End::takes_no_reads);
  while (engine_->lost().empty()) {
    static_cast<void>(engine_->read_register32(hw::magic));
  }
  EXPECT_NE(engine_->lost().find("not answered"), std::string::npos) << engine_->lost();
}

TEST(RtlFiles, coverage_of_each_board_goes_into_a_file_of_its_own_in_a_folder) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("datum-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  for (int board = 0; board < 2; ++board) {
    const auto function = open_simulated("rtl:coverage=" + folder.string());
    ASSERT_TRUE(function) << function.error().message;
  }
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_GT(entry.file_size(), 1000U);
    ++files;
  }
  EXPECT_EQ(files, 2U);
  std::filesystem::remove_all(folder);
}

TEST(RtlFiles, a_file_that_cannot_be_written_is_refused) {
  for (const auto* const option : {"wave", "coverage"}) {
    const auto function = open_simulated(std::string("rtl:") + option + "=/nonexistent/file");
    ASSERT_FALSE(function);
    EXPECT_EQ(function.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(function.error().message.find("/nonexistent/file"), std::string::npos);
  }
}

}  // namespace
}  // namespace datum::sim
