// The golden model as an engine: what the board does, at memcpy speed, without timing.
#pragma once

#include <string>

#include "sim/board/engine.hpp"
#include "sim/model/golden_parts.hpp"
#include "sim/model/register_file.hpp"

namespace datum::sim {

class GoldenModel final : public Engine {
 public:
  /// All arguments outlive the engine.
  GoldenModel(const BoardOptions& options, DramArray& dram, HostBus& host, const Timebase& timebase,
              TransactionHash& hash)
      : hash_(hash), parts_(options, dram, host, timebase), registers_(parts_) {}

  std::uint32_t read_register32(std::uint32_t offset) override;
  std::uint64_t read_register64(std::uint32_t offset) override;
  void write_register32(std::uint32_t offset, std::uint32_t value) override;
  void write_register64(std::uint32_t offset, std::uint64_t value) override;
  void read_aperture(std::uint64_t offset, std::span<std::byte> to) override;
  void write_aperture(std::uint64_t offset, std::span<const std::byte> from) override;
  void write_message_table32(std::uint32_t offset, std::uint32_t value) override;
  Activity run(std::uint64_t cycles) override;
  [[nodiscard]] Activity activity() const override;
  void power_on() override;

  [[nodiscard]] std::uint64_t cycle() const override { return parts_.counters.cycle; }

  [[nodiscard]] const std::string& lost() const override { return lost_; }

 private:
  /// What lies behind a part of the aperture.
  struct Place {
    bool exists = false;
    Physical first;
    std::uint64_t bytes = 0;  // as many as `first` is good for, or do not exist
  };

  [[nodiscard]] Place behind(std::uint64_t offset, std::uint64_t bytes) const noexcept;
  /// Lets the memory controller say what it has to.
  void report_errors();

  TransactionHash& hash_;
  GoldenParts parts_;
  RegisterFile registers_;
  std::string lost_;  // a model has no way to be lost
};

}  // namespace datum::sim
