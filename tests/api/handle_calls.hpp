// Calls of the functions that take a handle, with good arguments otherwise.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "tests/support/api_session.hpp"

namespace datum::test {

/// What a function takes as its handle; the other arguments are good ones.
enum class HandleKind { driver, device, context, queue, list, pool, event, fence };

struct Call {
  const char* name;
  HandleKind kind;
  std::function<ze_result_t(void*)> make;  ///< calls the function with this handle
};

class Handles : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    block_ = memory(MemoryKind::host, 4096);
    list_ = create_list(context(), device());
    pool_ = create_event_pool(context(), 4);
    event_ = create_event(pool_);
    fence_ = create_fence(queue());
  }

  void TearDown() override {
    EXPECT_EQ(ZE_RESULT_SUCCESS, fence_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, event_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, pool_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, list_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, block_.free());
    ApiTest::TearDown();
  }

  [[nodiscard]] std::vector<Call> calls();

  OwnedMemory block_;
  OwnedList list_;
  OwnedEventPool pool_;
  OwnedEvent event_;
  OwnedFence fence_;

  // Good arguments and places for results.
  std::uint32_t count_ = 0;
  void* pointer_ = nullptr;
  std::size_t size_ = 0;
  std::array<unsigned char, 4096> out_{};
};

}  // namespace datum::test
