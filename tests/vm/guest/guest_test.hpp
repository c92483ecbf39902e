// A test with a card of the guest's.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "tests/vm/guest/machine.hpp"
#include "tests/vm/guest/program.hpp"

namespace datum::test {

[[nodiscard]] inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Starts with the card bound and nodes for root only, as the kernel makes them.
class GuestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(cards().empty()) << "this machine has no board in its slots";
    card_ = cards().front();
    for (const std::string& card : cards()) {
      give_to_vfio(card);
      set_nodes(card, 0, 0600);
    }
  }

  /// The environment of a program that is to use the first card, or another one.
  [[nodiscard]] EnvironmentChanges on_card(const std::string& options = {}) const {
    return {{"DATUM_BOARDS", "vfio:" + card_ + options}};
  }

  [[nodiscard]] Rights ordinary_user(std::uint64_t memlock_bytes, const std::string& options = {}) const {
    return {true, memlock_bytes, on_card(options)};
  }

  std::string card_;
};

/// The same through either interface of the kernel; the parameter is the option that forces it.
class ThroughEither : public GuestTest, public ::testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] std::string forced() const { return std::string(",") + GetParam(); }
};

#define DATUM_THROUGH_EITHER(suite)                                                                          \
  INSTANTIATE_TEST_SUITE_P(Interfaces, suite, ::testing::Values("iommufd", "container"),                     \
                           [](const auto& chosen) { return std::string(chosen.param); })

}  // namespace datum::test
