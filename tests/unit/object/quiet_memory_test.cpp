// Allocating, freeing and asking are work of the host alone: the board is not touched.
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "sim/backend.hpp"
#include "tests/fakes/trace_function.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

class QuietMemory : public ::testing::Test {
 protected:
  QuietMemory() {
    auto simulated = sim::open_simulated("model:memory=64M");
    EXPECT_TRUE(simulated.ok());
    auto traced = std::make_unique<test::TraceFunction>(std::move(*simulated));
    trace_ = traced.get();
    std::vector<std::unique_ptr<Board>> boards;
    boards.push_back(*Board::adopt(std::move(traced)));
    driver_ = *Driver::create(std::move(boards));
    context_ = *Context::create(*driver_, {&device()});
  }

  Device& device() { return *driver_->devices().front(); }

  /// Of every kind and of several sizes; all of it is freed again.
  void use_memory() {
    std::vector<void*> pointers;
    for (const std::uint64_t bytes :
         {std::uint64_t{1}, std::uint64_t{4096}, std::uint64_t{100'000}, 3 * mib}) {
      for (const std::uint32_t ordinal : {0U, 1U}) {
        if (ordinal == 0 || bytes < mib) {
          pointers.push_back(*context_->allocate_device(device(), ordinal, bytes, 0));
        }
      }
      if (bytes < mib) {
        pointers.push_back(*context_->allocate_host(bytes, 0));
        pointers.push_back(*context_->allocate_shared(&device(), bytes, 0));
      }
    }
    for (void* pointer : pointers) {
      EXPECT_TRUE(context_->find(pointer).has_value());
      EXPECT_TRUE(context_->free(pointer).ok());
      EXPECT_FALSE(context_->find(pointer).has_value());
    }
  }

  test::TraceFunction* trace_ = nullptr;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Context> context_;
};

TEST_F(QuietMemory, given_memory_that_was_used_before_when_used_again_then_nothing_is_asked_of_the_board) {
  use_memory();  // pieces of host memory are made visible to the board, once
  ASSERT_TRUE(context_->space(device()).commit().ok());
  EXPECT_FALSE(trace_->take().empty());
  for (int round = 0; round < 100; ++round) {
    use_memory();
  }
  EXPECT_TRUE(trace_->take().empty());
}

}  // namespace
}  // namespace datum
