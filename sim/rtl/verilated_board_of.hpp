// A VerilatedBoard made of the class that Verilator wrote.
#pragma once

#include <verilated.h>
#include <verilated_fst_c.h>

#include <datum/base/standard_streams_kept.hpp>

#include "rtl_model/verilated_runtime/verilated_coverage.hpp"
#include "sim/rtl/recording.hpp"
#include "sim/rtl/verilated_board.hpp"

namespace datum::sim {

template <class Top, bool instrumented>
class VerilatedBoardOf final : public VerilatedBoard, private Recording {
 public:
  explicit VerilatedBoardOf(const VerilatedSettings& settings) : coverage_file_(settings.coverage_file) {
    constexpr int random_values = 2;
    context_.threads(1);  // otherwise it keeps one for each processor, which nothing would ever use
    context_.randReset(random_values);
    context_.randSeed(static_cast<int>(settings.seed % 0x7fffffff) + 1);  // 0 would take the time of day
    context_.traceEverOn(instrumented && settings.waveforms);
    top_ = std::make_unique<Top>(&context_);
    pins_ = std::make_unique<BoardPins>(pins_of(*top_));
    if constexpr (instrumented) {
      finish_at_exit();
    }
  }

  ~VerilatedBoardOf() override { end(); }

  VerilatedBoardOf(const VerilatedBoardOf&) = delete;
  VerilatedBoardOf& operator=(const VerilatedBoardOf&) = delete;

  void evaluate() override {
    Verilated::threadContextp(&context_);
    if constexpr (instrumented) {
      const ScopedLock lock(mutex_);
      top_->eval();
    } else {
      top_->eval();
    }
  }

  void open_waveform([[maybe_unused]] const std::string& file,
                     [[maybe_unused]] const std::vector<std::string>& scopes) override {
    if constexpr (instrumented) {
      const ScopedLock lock(mutex_);
      if (is_recording()) {
        waveform_ = std::make_unique<VerilatedFstC>();
        top_->trace(waveform_.get(), all_levels);
        for (const std::string& scope : scopes) {
          waveform_->dumpvars(all_levels, scope);
        }
        const StandardStreamsKept kept;
        waveform_->open(file.c_str());
      }
    }
  }

  void dump(std::uint64_t time_ps) override {
    if constexpr (instrumented) {
      const ScopedLock lock(mutex_);
      context_.time(time_ps);
      if (waveform_ != nullptr && is_recording()) {
        waveform_->dump(time_ps);
      }
    }
  }

  void flush_waveform() override {
    const ScopedLock lock(mutex_);
    if (waveform_ != nullptr && is_recording()) {
      waveform_->flush();
    }
  }

  void close_waveform() override {
    const ScopedLock lock(mutex_);
    if (is_recording()) {
      end_waveform();
    }
  }

  [[nodiscard]] BoardPins& pins() noexcept override { return *pins_; }

 private:
  void close() override {
    Verilated::threadContextp(&context_);
    if constexpr (instrumented) {
      end_waveform();
      rtl_model::write_coverage(context_, coverage_file_);
    }
  }

  void end_waveform() {
    if (waveform_ != nullptr) {
      const StandardStreamsKept kept;  // it opens some more, for a moment
      waveform_->close();
      waveform_.reset();
    }
  }

  static constexpr int all_levels = 99;

  VerilatedContext context_;
  std::string coverage_file_;
  std::unique_ptr<VerilatedFstC> waveform_;
  std::unique_ptr<Top> top_;
  std::unique_ptr<BoardPins> pins_;
};

}  // namespace datum::sim
