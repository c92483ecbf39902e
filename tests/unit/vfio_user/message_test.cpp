// Messages on the wire, whole, broken and in pieces.
#include <sys/eventfd.h>
#include <thread>
#include <unistd.h>

#include "tests/unit/vfio_user/raw_peer.hpp"

namespace datum::test {
namespace {

class MessageSocket : public ::testing::Test {
 protected:
  MessageSocket() : MessageSocket(make_connection()) {}

  explicit MessageSocket(std::pair<UniqueFd, UniqueFd> ends)
      : peer_(std::move(ends.first)), socket_(std::move(ends.second)) {}

  Result<std::optional<Message>> receive() { return vfio_user::receive_message(socket_.get()); }

  RawPeer peer_;
  UniqueFd socket_;
};

TEST_F(MessageSocket, given_a_message_when_sent_then_header_body_and_descriptors_arrive) {
  const UniqueFd event(::eventfd(5, EFD_CLOEXEC));
  const int descriptor = event.get();
  const auto body = vfio_user::as_message_body(vfio_user::DmaMap{32, 3, 1, 2, 3});
  peer_.send({77, 2, 0, 0x10, 0}, body, {&descriptor, 1});
  const auto message = receive();
  ASSERT_TRUE(message && message->has_value());
  EXPECT_EQ((*message)->header.id, 77);
  EXPECT_EQ((*message)->command(), Command::dma_map);
  EXPECT_EQ((*message)->header.flags, 0x10U);
  EXPECT_EQ((*message)->header.size_bytes, 48U);
  EXPECT_EQ((*message)->body, body);
  ASSERT_EQ((*message)->descriptors.size(), 1U);
  std::uint64_t count = 0;
  EXPECT_EQ(::read((*message)->descriptors[0].get(), &count, sizeof count), 8);
  EXPECT_EQ(count, 5U);
}

TEST_F(MessageSocket, given_messages_in_a_row_when_received_then_each_has_its_own_descriptors) {
  const UniqueFd event(::eventfd(0, EFD_CLOEXEC));
  const int descriptor = event.get();
  peer_.send({1, 13, 0, 0, 0}, {});
  peer_.send({2, 13, 0, 0, 0}, {}, {&descriptor, 1});
  peer_.send({3, 13, 0, 0, 0}, {});
  for (const std::size_t expected : {0U, 1U, 0U}) {
    const auto message = receive();
    ASSERT_TRUE(message && message->has_value());
    EXPECT_EQ((*message)->descriptors.size(), expected) << (*message)->header.id;
  }
}

TEST_F(MessageSocket, given_the_largest_message_when_sent_then_it_arrives_whole) {
  std::vector<std::byte> body(vfio_user::most_message_bytes - sizeof(Header));
  body.front() = std::byte{1};
  body.back() = std::byte{2};
  std::thread sender([&] { peer_.send({1, 10, 0, 0, 0}, body); });
  const auto message = receive();
  sender.join();
  ASSERT_TRUE(message && message->has_value());
  EXPECT_EQ((*message)->body, body);
}

TEST_F(MessageSocket, given_a_size_that_cannot_be_when_received_then_it_is_refused_unread) {
  for (const std::uint32_t size : {0U, 1U, 15U, vfio_user::most_message_bytes + 1, 0x80000000U, ~0U}) {
    auto [ours, theirs] = make_connection();
    RawPeer peer(std::move(ours));
    peer.send_raw(vfio_user::as_message_body(Header{1, 9, size, 0, 0}));
    const auto message = vfio_user::receive_message(theirs.get());
    ASSERT_FALSE(message) << size;
    EXPECT_EQ(message.error().code, ErrorCode::invalid_argument) << size;
  }
}

TEST_F(MessageSocket, given_a_peer_that_goes_between_messages_when_received_then_it_is_the_end) {
  peer_.close();
  const auto message = receive();
  ASSERT_TRUE(message);
  EXPECT_FALSE(message->has_value());
}

TEST_F(MessageSocket, given_a_peer_that_goes_inside_a_message_when_received_then_the_connection_broke) {
  for (const std::size_t bytes : {1U, 15U, 16U, 40U}) {
    auto [ours, theirs] = make_connection();
    RawPeer peer(std::move(ours));
    const auto whole = vfio_user::encode({1, 2, 0, 0, 0}, std::vector<std::byte>(32));
    peer.send_raw(std::span{whole}.first(bytes));
    peer.close();
    const auto message = vfio_user::receive_message(theirs.get());
    ASSERT_FALSE(message) << bytes;
    EXPECT_EQ(message.error().code, ErrorCode::device_lost) << bytes;
  }
}

TEST_F(MessageSocket, given_too_many_descriptors_when_received_then_they_are_refused_and_closed) {
  const UniqueFd event(::eventfd(0, EFD_CLOEXEC));
  const std::vector<int> descriptors(vfio_user::most_descriptors, event.get());
  const auto whole = vfio_user::encode({1, 8, 0, 0, 0}, std::vector<std::byte>(20));
  // Twice the allowed number in one message: half with its first byte, half with its second.
  peer_.send_raw(std::span{whole}.first(1), descriptors);
  peer_.send_raw(std::span{whole}.subspan(1), descriptors);
  const UniqueFd before(::dup(event.get()));
  const auto message = receive();
  ASSERT_FALSE(message);
  EXPECT_EQ(message.error().code, ErrorCode::invalid_argument);
  const UniqueFd after(::dup(event.get()));
  EXPECT_EQ(after.get(), before.get() + 1) << "descriptors were left open";
}

TEST_F(MessageSocket, given_a_peer_that_is_gone_when_sent_then_an_errno_comes_and_no_signal) {
  peer_.close();
  EXPECT_EQ(vfio_user::send_all(socket_.get(), std::vector<std::byte>(16), {}), EPIPE);
}

}  // namespace
}  // namespace datum::test
