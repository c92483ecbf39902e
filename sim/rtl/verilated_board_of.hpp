// A VerilatedBoard made of the class that Verilator wrote.
#pragma once

#include <verilated.h>
#include <verilated_fst_c.h>

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
    context_.traceEverOn(instrumented && !settings.trace_file.empty());
    top_ = std::make_unique<Top>(&context_);
    pins_ = std::make_unique<BoardPins>(pins_of(*top_));
    if constexpr (instrumented) {
      if (!settings.trace_file.empty()) {
        trace_ = std::make_unique<VerilatedFstC>();
        constexpr int all_levels = 99;
        top_->trace(trace_.get(), all_levels);
        trace_->open(settings.trace_file.c_str());
      }
      finish_at_exit();
    }
  }

  ~VerilatedBoardOf() override { end(); }

  void evaluate() override {
    Verilated::threadContextp(&context_);
    if constexpr (instrumented) {
      const ScopedLock lock(mutex_);
      top_->eval();
    } else {
      top_->eval();
    }
  }

  void dump(std::uint64_t time_ps) override {
    if constexpr (instrumented) {
      const ScopedLock lock(mutex_);
      context_.time(time_ps);
      if (trace_ != nullptr && is_recording()) {
        trace_->dump(time_ps);
      }
    }
  }

  [[nodiscard]] BoardPins& pins() noexcept override { return *pins_; }

 private:
  void close() override {
    Verilated::threadContextp(&context_);
    if constexpr (instrumented) {
      if (trace_ != nullptr) {
        trace_->close();
      }
      rtl_model::write_coverage(context_, coverage_file_);
    }
  }

  VerilatedContext context_;
  std::string coverage_file_;
  std::unique_ptr<VerilatedFstC> trace_;
  std::unique_ptr<Top> top_;
  std::unique_ptr<BoardPins> pins_;
};

}  // namespace datum::sim
