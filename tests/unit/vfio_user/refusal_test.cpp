// What a session must not take, and that it goes on afterwards.
#include <fcntl.h>
#include <sys/eventfd.h>

#include "tests/unit/vfio_user/session_test.hpp"

namespace datum::test {
namespace {

using vfio_user::as_message_body;

class Refusal : public SessionTest {
 protected:
  void TearDown() override {
    if (peer_ != nullptr && !HasFatalFailure()) {
      expect_alive();
    }
    SessionTest::TearDown();
  }
};

TEST_F(Refusal, given_no_version_yet_when_anything_is_asked_then_it_is_out_of_order) {
  EXPECT_EQ(peer().error_of(Command::device_get_info, as_message_body(vfio_user::DeviceInfo{16, 0, 0, 0})),
            static_cast<std::uint32_t>(EINVAL));
  EXPECT_EQ(peer().error_of(Command::device_reset, {}), static_cast<std::uint32_t>(EINVAL));
  negotiate();
}

TEST_F(Refusal, given_a_version_already_when_another_comes_then_it_is_out_of_order) {
  negotiate();
  EXPECT_EQ(peer().error_of(Command::version, vfio_user::encode_version({})),
            static_cast<std::uint32_t>(EINVAL));
}

TEST_F(Refusal, given_a_version_that_makes_no_sense_when_sent_then_a_right_one_may_follow) {
  EXPECT_EQ(peer().error_of(Command::version, {}), static_cast<std::uint32_t>(EINVAL));
  EXPECT_EQ(peer().error_of(Command::version, as_message_body(vfio_user::Version{9, 0})),
            static_cast<std::uint32_t>(ENOTSUP));
  negotiate();
}

TEST_F(Refusal, given_commands_that_do_not_exist_when_sent_then_each_is_refused) {
  negotiate();
  for (const unsigned command : {0U, 11U, 12U, 14U, 15U, 99U, 0xffffU}) {
    EXPECT_NE(peer().error_of(static_cast<Command>(command), std::vector<std::byte>(16)), 0U) << command;
  }
}

TEST_F(Refusal, given_bodies_of_wrong_length_when_sent_then_each_is_refused) {
  negotiate();
  for (const auto command :
       {Command::dma_map, Command::dma_unmap, Command::device_get_info, Command::device_get_region_info,
        Command::device_get_irq_info, Command::device_set_irqs, Command::region_read, Command::region_write,
        Command::device_reset}) {
    for (const std::size_t bytes : {1U, 4U, 15U, 17U, 19U, 33U, 1000U}) {
      EXPECT_NE(peer().error_of(command, std::vector<std::byte>(bytes)), 0U)
          << vfio_user::name_of(command) << " of " << bytes;
    }
  }
}

TEST_F(Refusal, given_flags_that_make_no_command_when_sent_then_it_is_refused) {
  negotiate();
  for (const std::uint32_t flags : {2U, 0xfU, 0x40U, 0x80000000U, vfio_user::flag_error}) {
    peer().send(Command::device_reset, {}, {}, flags);
    const auto reply = peer().receive();
    ASSERT_TRUE(reply) << flags;
    EXPECT_EQ(reply->header.error, static_cast<std::uint32_t>(EINVAL)) << flags;
  }
}

TEST_F(Refusal, given_replies_to_nothing_when_sent_then_they_are_passed_over) {
  peer().send(Command::dma_read, std::vector<std::byte>(16), {}, vfio_user::type_reply);
  negotiate();
  for (const auto command : {Command::dma_read, Command::dma_write, Command::version}) {
    peer().send(command, std::vector<std::byte>(24), {}, vfio_user::type_reply);
    peer().send(command, {}, {}, vfio_user::type_reply | vfio_user::flag_error);
  }
}

TEST_F(Refusal, given_descriptors_where_none_belong_when_sent_then_the_message_is_refused) {
  negotiate();
  const UniqueFd event(::eventfd(0, EFD_CLOEXEC));
  const int fd = event.get();
  EXPECT_NE(peer().error_of(Command::device_reset, {}, {&fd, 1}), 0U);
  EXPECT_NE(
      peer().error_of(Command::dma_unmap, as_message_body(vfio_user::DmaUnmap{24, 0, 0, 4096}), {&fd, 1}),
      0U);
  const std::array<int, 2> two{fd, fd};
  EXPECT_NE(peer().error_of(Command::dma_map, as_message_body(vfio_user::DmaMap{32, 3, 0, 0, 4096}), two),
            0U);
  EXPECT_NE(peer().error_of(Command::device_set_irqs, as_message_body(vfio_user::IrqSet{20, 0x21, 2, 0, 0}),
                            {&fd, 1}),
            0U);
}

TEST_F(Refusal, given_region_accesses_outside_when_sent_then_nothing_is_touched) {
  negotiate();
  const auto bar_bytes = board_->region_bytes(register_bar);
  const std::vector<vfio_user::RegionAccess> accesses{
      {0, 1, 4},     {0, 6, 4},         {0, 8, 4},         {0, 9, 4},
      {0, ~0U, 4},   {0, 0, 0},         {bar_bytes, 0, 4}, {bar_bytes - 4, 0, 8},
      {~0ULL, 0, 4}, {~0ULL - 3, 0, 4}, {4095, 7, 2},      {0, 2, vfio_user::most_data_bytes + 1},
      {0, 2, ~0U},
  };
  for (const auto& access : accesses) {
    EXPECT_EQ(peer().error_of(Command::region_read, as_message_body(access)),
              static_cast<std::uint32_t>(EINVAL))
        << access.region << " " << access.offset << " " << access.count;
  }
  auto short_write = as_message_body(vfio_user::RegionAccess{hw::scratch, 0, 8});
  short_write.resize(short_write.size() + 4);
  EXPECT_NE(peer().error_of(Command::region_write, short_write), 0U);
  EXPECT_EQ(read<std::uint64_t>(register_bar, hw::scratch), 0U);
}

TEST_F(Refusal, given_mappings_that_break_a_rule_when_sent_then_each_is_refused) {
  negotiate();
  const UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 0x4000), 0);
  const UniqueFd read_only(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  EXPECT_NE(map(0x1000, 0, 3), 0U);
  EXPECT_NE(map(0x1001, 0x1000, 3), 0U);
  EXPECT_NE(map(0x1000, 0x1001, 3), 0U);
  EXPECT_NE(map(0x1000, 0x1000, 0), 0U);
  EXPECT_NE(map(0x1000, 0x1000, 7), 0U);
  EXPECT_NE(map(~0xfffULL, 0x2000, 3), 0U);
  EXPECT_NE(map(0x1000, 0x2000, 3, file.get(), 0x3000), 0U) << "beyond the file";
  EXPECT_NE(map(0x1000, 0x1000, 3, file.get(), 0x800), 0U) << "offset within a page";
  EXPECT_NE(map(0x1000, 0x1000, 3, file.get(), ~0xfffULL), 0U) << "offset that wraps";
  EXPECT_NE(map(0x1000, 0x1000, 1, read_only.get()), 0U) << "no memory file";
  ASSERT_EQ(map(0x1000, 0x2000, 3), 0U);
  EXPECT_NE(map(0x2000, 0x1000, 3), 0U) << "overlap";
  EXPECT_NE(unmap(0x2000, 0x1000), 0U) << "half of a mapping";
  EXPECT_NE(unmap(0x1000, 0), 0U);
  EXPECT_NE(unmap(0x1000, 0x1000, 1), 0U) << "a bitmap of dirty pages was not offered";
  EXPECT_EQ(unmap(0x1000, 0x2000), 0U);
  EXPECT_EQ(board_->mappings(), 0U);
}

TEST_F(Refusal, given_interrupts_that_do_not_exist_when_set_then_each_is_refused) {
  negotiate();
  const UniqueFd event(::eventfd(0, EFD_CLOEXEC));
  const UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
  const auto set = [&](std::uint32_t flags, std::uint32_t index, std::uint32_t start, std::uint32_t count,
                       std::vector<int> fds = {}) {
    return peer().error_of(Command::device_set_irqs,
                           as_message_body(vfio_user::IrqSet{20, flags, index, start, count}), fds);
  };
  EXPECT_NE(set(0x24, 2, 66, 1, {event.get()}), 0U);
  EXPECT_NE(set(0x24, 2, 0, 67), 0U);
  EXPECT_NE(set(0x24, 2, ~0U, 2), 0U);
  EXPECT_NE(set(0x24, 0, 0, 1, {event.get()}), 0U) << "INTx";
  EXPECT_NE(set(0x24, 5, 0, 1, {event.get()}), 0U);
  EXPECT_NE(set(0x24, 2, 0, 2, {event.get()}), 0U) << "one descriptor for two vectors";
  EXPECT_NE(set(0x24, 2, 0, 1, {file.get()}), 0U) << "no eventfd";
  EXPECT_NE(set(0x25, 2, 0, 1, {event.get()}), 0U) << "two kinds of data";
  EXPECT_NE(set(0x0c, 2, 0, 1), 0U) << "mask";
  EXPECT_NE(set(0x22, 2, 0, 2), 0U) << "bytes that are missing";
  EXPECT_EQ(set(0x24, 2, 65, 1, {event.get()}), 0U);
}

TEST_F(Refusal, given_errors_of_commands_that_want_no_reply_when_sent_then_none_comes) {
  negotiate();
  peer().send(Command::region_write, std::vector<std::byte>(3), {}, vfio_user::flag_no_reply);
  peer().send(static_cast<Command>(77), {}, {}, vfio_user::flag_no_reply);
  expect_alive();  // its reply would not be the next message otherwise
}

TEST_F(SessionTest, given_a_size_that_cannot_be_when_sent_then_the_connection_ends_and_the_board_is_whole) {
  negotiate();
  peer().send_raw(as_message_body(Header{1, 9, 7, 0, 0}));
  EXPECT_FALSE(peer().receive());
  disconnect();
  connect();
  negotiate();
  expect_alive();
}

}  // namespace
}  // namespace datum::test
