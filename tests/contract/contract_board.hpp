// The boards that the contract is tested on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <datum/board/pcie_function.hpp>

#include "tests/support/board_driver.hpp"

namespace datum::test {

/// Addresses of all boards of this build, as the build lists them.
[[nodiscard]] std::vector<std::string> contract_addresses();
/// Those of them that are step-locked.
[[nodiscard]] std::vector<std::string> step_locked_addresses();
/// "model:step" becomes "model_step", a name that a test may have.
[[nodiscard]] std::string address_as_name(const ::testing::TestParamInfo<std::string>& info);

/// Opens `address`, with further options behind it.
[[nodiscard]] Result<std::unique_ptr<board::PcieFunction>> open_board(std::string address,
                                                                      const std::string& options = {});

/// A test of something that every board promises. Its parameter is the board's address.
class Contract : public ::testing::TestWithParam<std::string> {
 protected:
  [[nodiscard]] bool step_locked() const { return GetParam().find("step") != std::string::npos; }

  /// The board of the test, opened when it is first needed.
  board::PcieFunction& function();
  BoardDriver& driver();
  void open_with(const std::string& options);

  static constexpr unsigned space = 3;
  static constexpr std::uint64_t host_va = 0x7f12'3400'0000;
  static constexpr std::uint64_t device_va = 0x7e00'0000'0000;

 private:
  std::unique_ptr<board::PcieFunction> function_;
  std::unique_ptr<BoardDriver> driver_;
};

#define DATUM_ON_EVERY_BOARD(suite)                                                                          \
  INSTANTIATE_TEST_SUITE_P(Boards, suite, ::testing::ValuesIn(::datum::test::contract_addresses()),          \
                           ::datum::test::address_as_name)

}  // namespace datum::test
