// A board whose RTL comes from a library that was built like somebody else's.

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include <datum/hw/registers.hpp>

#include "sim/backend.hpp"
#include "sim/board/design_library.hpp"

namespace datum::sim {
namespace {

const std::string design_address = "rtl:step,design=" DATUM_TEST_DESIGN;

TEST(DesignBoard, is_what_its_design_says) {
  const auto function = open_simulated(design_address);
  ASSERT_TRUE(function) << function.error().message;
  const auto& info = (*function)->info();
  EXPECT_EQ(info.name, "own (Verilator)");
  EXPECT_EQ(info.vendor_id, 0x1235);
  EXPECT_EQ(info.device_id, 0xda7b);
  auto& registers = **(*function)->bar(0);
  EXPECT_EQ(registers.read32(hw::magic), hw::magic_value);
  EXPECT_EQ(registers.read64(hw::memory_bytes), 32ULL << 20U);
  EXPECT_EQ(registers.read64(hw::aperture_fixed_bytes), 32ULL << 20U);
  EXPECT_EQ(registers.read64(hw::aperture_window_bytes), 1ULL << 20U);
  EXPECT_EQ(registers.read32(hw::channel_count), 2U);
}

TEST(DesignBoard, keeps_registers_and_memory_and_starts_anew_after_a_reset) {
  const auto function = open_simulated(design_address);
  ASSERT_TRUE(function) << function.error().message;
  auto& registers = **(*function)->bar(0);
  auto& aperture = **(*function)->bar(2);
  registers.write64(hw::scratch, 0x0123456789abcdefULL);
  aperture.write64(0x100008, 0xfedcba9876543210ULL);
  EXPECT_EQ(registers.read64(hw::scratch), 0x0123456789abcdefULL);
  EXPECT_EQ(aperture.read64(0x100008), 0xfedcba9876543210ULL);
  ASSERT_TRUE((*function)->reset(board::ResetKind::function));
  EXPECT_EQ(registers.read64(hw::scratch), 0U);
  EXPECT_EQ(aperture.read64(0x100008), 0xfedcba9876543210ULL) << "memory survives";
}

TEST(DesignBoard, is_found_by_name) {
  ::setenv(design_path_variable, std::filesystem::path(DATUM_TEST_DESIGN).parent_path().c_str(), 1);
  const auto function = open_simulated("rtl:step,design=own");
  ::unsetenv(design_path_variable);
  ASSERT_TRUE(function) << function.error().message;
  EXPECT_EQ((*function)->info().device_id, 0xda7b);
}

TEST(DesignBoard, without_an_instrumented_model_refuses_what_needs_one) {
  for (const auto* const option : {",instrumented", ",wave=/tmp/never.fst"}) {
    const auto function = open_simulated(design_address + option);
    ASSERT_FALSE(function) << option;
    EXPECT_NE(function.error().message.find("instrumented"), std::string::npos) << function.error().message;
    EXPECT_NE(function.error().hint.find("INSTRUMENTED"), std::string::npos) << function.error().hint;
  }
}

}  // namespace
}  // namespace datum::sim
