// Extensions that nobody knows, behind the descriptors of everything that is created from one.
#include <functional>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class ExtensionChains : public ApiTest {
 protected:
  /// One call for each kind of descriptor, with `chain` behind it.
  struct Creation {
    const char* name;
    std::function<ze_result_t(const void* chain)> create;
  };

  [[nodiscard]] std::vector<Creation> creations() {
    return {{"zeCommandQueueCreate", [this](const void* chain) { return create_queue_behind(chain); }},
            {"zeCommandListCreate", [this](const void* chain) { return create_list_behind(chain); }},
            {"zeCommandListCreateImmediate",
             [this](const void* chain) { return create_immediate_list_behind(chain); }},
            {"zeEventPoolCreate", [this](const void* chain) { return create_pool_behind(chain); }},
            {"zeEventCreate", [this](const void* chain) { return create_event_behind(chain); }},
            {"zeFenceCreate", [this](const void* chain) { return create_fence_behind(chain); }}};
  }

 private:
  ze_result_t create_queue_behind(const void* chain) {
    const ze_command_queue_desc_t description = queue_description(chain);
    OwnedQueue made;
    return zeCommandQueueCreate(context(), device(), &description, made.address());
  }

  ze_result_t create_list_behind(const void* chain) {
    const ze_command_list_desc_t description{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, chain, 0, 0};
    OwnedList made;
    return zeCommandListCreate(context(), device(), &description, made.address());
  }

  ze_result_t create_immediate_list_behind(const void* chain) {
    const ze_command_queue_desc_t description = queue_description(chain);
    OwnedList made;
    return zeCommandListCreateImmediate(context(), device(), &description, made.address());
  }

  ze_result_t create_pool_behind(const void* chain) {
    const ze_event_pool_desc_t description{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, chain,
                                           ZE_EVENT_POOL_FLAG_HOST_VISIBLE, 1};
    OwnedEventPool made;
    return zeEventPoolCreate(context(), &description, 0, nullptr, made.address());
  }

  ze_result_t create_event_behind(const void* chain) {
    const OwnedEventPool pool = create_event_pool(context(), 1);
    const ze_event_desc_t description{ZE_STRUCTURE_TYPE_EVENT_DESC, chain, 0, 0, 0};
    OwnedEvent made;
    return zeEventCreate(pool, &description, made.address());
  }

  ze_result_t create_fence_behind(const void* chain) {
    const ze_fence_desc_t description{ZE_STRUCTURE_TYPE_FENCE_DESC, chain, 0};
    OwnedFence made;
    return zeFenceCreate(queue(), &description, made.address());
  }

  static ze_command_queue_desc_t queue_description(const void* chain) {
    return {ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC, chain, 0, 0, 0, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
            ZE_COMMAND_QUEUE_PRIORITY_NORMAL};
  }
};

TEST_F(ExtensionChains, given_an_unknown_extension_when_something_is_created_then_it_is_ignored) {
  const ze_base_desc_t unknown{static_cast<ze_structure_type_t>(0x7f00), nullptr};
  for (const Creation& creation : creations()) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, creation.create(&unknown)) << creation.name;
  }
}

TEST_F(ExtensionChains, given_extensions_in_a_circle_when_something_is_created_then_the_call_returns) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer walks the chain itself";
  }
  ze_base_desc_t itself{static_cast<ze_structure_type_t>(0x7f00), nullptr};
  itself.pNext = &itself;
  ze_base_desc_t first{static_cast<ze_structure_type_t>(0x7f00), nullptr};
  const ze_base_desc_t second{static_cast<ze_structure_type_t>(0x7f01), &first};
  first.pNext = &second;
  for (const Creation& creation : creations()) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, creation.create(&itself)) << creation.name;
    EXPECT_EQ(ZE_RESULT_SUCCESS, creation.create(&first)) << creation.name;
  }
}

}  // namespace
}  // namespace datum::test
