// The tables that a handle leads to, and when a loader may use them.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "driver/api/tables/ddi_handle.hpp"
#include "driver/api/tables/loader_version.hpp"
#include "tests/loader/api_entries.hpp"

namespace datum::test {
namespace {

/// The pointers of an aggregate of tables, which follow its version and its flag.
template <class Aggregate>
std::vector<const void*> tables_of(const Aggregate& aggregate) {
  constexpr std::size_t head = 2 * sizeof(std::uint32_t);
  std::vector<const void*> tables((sizeof(Aggregate) - head) / sizeof(void*));
  std::memcpy(tables.data(), reinterpret_cast<const std::byte*>(&aggregate) + head,
              tables.size() * sizeof(void*));
  return tables;
}

template <class Aggregate>
void expect_complete(const Aggregate* aggregate, std::size_t table_count) {
  ASSERT_NE(aggregate, nullptr);
  EXPECT_EQ(aggregate->version, ZE_API_VERSION_1_17);
  EXPECT_EQ(aggregate->isValidFlag, 1);
  const std::vector<const void*> tables = tables_of(*aggregate);
  ASSERT_EQ(tables.size(), table_count);
  for (const void* table : tables) {
    EXPECT_NE(table, nullptr);
  }
}

TEST(DdiHandle, given_a_handle_when_a_loader_reads_it_then_all_four_interfaces_are_complete_and_of_api_1_17) {
  const ze_handle_t& handle = api::ddi_handle_prefix();
  expect_complete(handle.pCore, 32);
  expect_complete(handle.pTools, 19);
  expect_complete(handle.pSysman, 24);
  expect_complete(handle.pRuntime, 1);
}

TEST(DdiHandle,
     given_a_handle_when_a_function_is_called_through_it_then_it_is_the_one_that_the_exported_table_has) {
  const ze_handle_t& handle = api::ddi_handle_prefix();
  ze_mem_dditable_t memory{};
  ASSERT_EQ(zeGetMemProcAddrTable(ZE_API_VERSION_1_17, &memory), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::memcmp(handle.pCore->Mem, &memory, sizeof(memory)), 0);
  zes_device_dditable_t sysman_device{};
  ASSERT_EQ(zesGetDeviceProcAddrTable(ZE_API_VERSION_1_17, &sysman_device), ZE_RESULT_SUCCESS);
  EXPECT_EQ(std::memcmp(handle.pSysman->Device, &sysman_device, sizeof(sysman_device)), 0);
}

class DdiHandleUse : public testing::Test {
 protected:
  void SetUp() override { api::forget_loader_versions(); }

  void TearDown() override { api::forget_loader_versions(); }

  static void ask_for_a_table(std::uint32_t minor) {
    ze_global_dditable_t table{};
    ASSERT_EQ(zeGetGlobalProcAddrTable(static_cast<ze_api_version_t>(ZE_MAKE_VERSION(1, minor)), &table),
              ZE_RESULT_SUCCESS);
  }
};

TEST_F(DdiHandleUse, given_no_loader_yet_then_handles_may_be_used) { EXPECT_TRUE(api::ddi_handles_usable()); }

TEST_F(DdiHandleUse, given_a_loader_of_1_13_or_newer_then_handles_may_be_used) {
  for (const std::uint32_t minor : {13u, 17u, 18u}) {
    api::forget_loader_versions();
    ask_for_a_table(minor);
    EXPECT_TRUE(api::ddi_handles_usable()) << minor;
  }
}

TEST_F(DdiHandleUse, given_a_loader_older_than_1_13_then_handles_may_not_be_used_even_beside_a_newer_one) {
  ask_for_a_table(17);
  ask_for_a_table(12);
  ask_for_a_table(17);
  EXPECT_FALSE(api::ddi_handles_usable());
}

TEST_F(DdiHandleUse, given_a_refused_major_version_then_it_does_not_count) {
  ze_global_dditable_t table{};
  ASSERT_EQ(zeGetGlobalProcAddrTable(static_cast<ze_api_version_t>(ZE_MAKE_VERSION(0, 5)), &table),
            ZE_RESULT_ERROR_UNSUPPORTED_VERSION);
  EXPECT_TRUE(api::ddi_handles_usable());
}

}  // namespace
}  // namespace datum::test
