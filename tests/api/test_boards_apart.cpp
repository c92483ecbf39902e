// One driver with two boards that have no way to each other's memory: cards behind VFIO, boards of servers.
#include <algorithm>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class ApartBoards : public ApiTest {
 protected:
  void SetUp() override {
    if (mode() != Mode::two_boards) {
      GTEST_SKIP() << "needs two boards";
    }
    ApiTest::SetUp();
  }

  [[nodiscard]] static ze_device_handle_t first() { return session().devices[0]; }

  [[nodiscard]] static ze_device_handle_t second() { return session().devices[1]; }

  [[nodiscard]] ze_result_t copy_on(ze_device_handle_t board, void* to, const void* from, std::size_t bytes) {
    const OwnedList list = create_immediate_list(context(), board, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    return zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr);
  }
};

TEST_F(ApartBoards, given_both_when_asked_about_peers_then_both_answers_say_that_there_is_no_way) {
  for (const auto& [one, other] : {std::pair{first(), second()}, std::pair{second(), first()}}) {
    ze_bool_t peers = 1;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceCanAccessPeer(one, other, &peers));
    ze_device_p2p_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetP2PProperties(one, other, &properties));
    EXPECT_EQ(0, peers);
    EXPECT_EQ(0U, properties.flags);
  }
}

TEST_F(ApartBoards, given_memory_of_both_when_either_copies_then_it_is_unsupported_and_no_byte_changes) {
  constexpr std::size_t bytes = 10'000;
  const OwnedMemory here = allocate(MemoryKind::device, context(), first(), bytes);
  const OwnedMemory there = allocate(MemoryKind::device, context(), second(), bytes);
  const OwnedMemory host = memory(MemoryKind::host, 2 * bytes);
  write_pattern(host.get(), bytes, 1);
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(first(), here.get(), host.get(), bytes));
  std::fill_n(host.bytes(), bytes, static_cast<unsigned char>(7));
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(second(), there.get(), host.get(), bytes));
  for (const ze_device_handle_t worker : {first(), second()}) {
    EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, copy_on(worker, there.get(), here.get(), bytes));
    EXPECT_NE(std::string::npos, last_error_text().find("there is no way to it from this one"))
        << last_error_text();
  }
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(second(), host.get(), there.get(), bytes));
  EXPECT_TRUE(std::all_of(host.bytes(), host.bytes() + bytes, [](unsigned char byte) { return byte == 7; }));
}

TEST_F(ApartBoards, given_memory_of_both_when_copied_through_host_memory_then_every_byte_arrives) {
  constexpr std::size_t bytes = 300'001;
  const OwnedMemory here = allocate(MemoryKind::device, context(), first(), bytes);
  const OwnedMemory there = allocate(MemoryKind::device, context(), second(), bytes);
  const OwnedMemory from = memory(MemoryKind::host, bytes);
  const OwnedMemory between = memory(MemoryKind::host, bytes);
  const OwnedMemory to = memory(MemoryKind::host, bytes);
  write_pattern(from.get(), bytes, 2);
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(first(), here.get(), from.get(), bytes));
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(first(), between.get(), here.get(), bytes));
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(second(), there.get(), between.get(), bytes));
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy_on(second(), to.get(), there.get(), bytes));
  EXPECT_TRUE(same_bytes(from.get(), to.get(), bytes));
}

}  // namespace
}  // namespace datum::test
