// A driver that is told not to pin ordinary memory.
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "driver/memory/pinning.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "tests/unit/memory/model_board.hpp"
#include "tests/unit/memory/table_walk.hpp"

namespace datum {
namespace {

class WithoutPinning : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv(pinning_variable, "off", 1);
    std::vector<std::unique_ptr<Board>> boards;
    boards.push_back(test::open_model("memory=16M"));
    driver_ = std::move(*Driver::create(std::move(boards)));
    context_ = std::move(*Context::create(*driver_, {&device()}));
  }

  void TearDown() override { ::unsetenv(pinning_variable); }

  Device& device() { return *driver_->devices().front(); }

  [[nodiscard]] bool reachable(const void* pointer) {
    EXPECT_TRUE(context_->space(device()).commit().ok());
    return test::translate(device().board(), context_->space(device()).number(),
                           reinterpret_cast<std::uintptr_t>(pointer))
        .has_value();
  }

  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Context> context_;
};

TEST_F(WithoutPinning, given_ordinary_memory_when_a_command_wants_it_then_it_is_left_to_staging) {
  std::vector<std::byte> memory(8192);
  const auto refused =
      context_->make_accessible(device(), memory.data(), memory.size(), board::DmaAccess::write);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_host_memory) << "as where the limit of memory says no";
  EXPECT_NE(refused.error().message.find("DATUM_PINNING"), std::string::npos) << refused.error().message;
  EXPECT_FALSE(reachable(memory.data()));
}

TEST_F(WithoutPinning, given_what_is_no_memory_when_a_command_wants_it_then_that_is_told) {
  EXPECT_EQ(context_->make_accessible(device(), nullptr, 1, board::DmaAccess::read).error().code,
            ErrorCode::invalid_argument);
}

TEST_F(WithoutPinning, given_memory_of_the_drivers_own_when_a_command_wants_it_then_it_is_reachable) {
  void* own = *context_->allocate_host(4096, 0);
  EXPECT_TRUE(context_->make_accessible(device(), own, 4096, board::DmaAccess::write).ok());
  EXPECT_TRUE(reachable(own));
  EXPECT_TRUE(context_->free(own).ok());
}

TEST(Pinning, given_any_value_then_off_alone_turns_it_off_and_what_means_nothing_is_known_as_such) {
  for (const char* value : {static_cast<const char*>(nullptr), "", "on", "0", "OFF"}) {
    EXPECT_TRUE(pins_ordinary_memory(value)) << (value != nullptr ? value : "null");
  }
  EXPECT_FALSE(pins_ordinary_memory("off"));
  for (const char* value : {static_cast<const char*>(nullptr), "", "on", "off"}) {
    EXPECT_TRUE(is_pinning(value));
  }
  EXPECT_FALSE(is_pinning("0"));
  EXPECT_FALSE(is_pinning("OFF"));
}

}  // namespace
}  // namespace datum
