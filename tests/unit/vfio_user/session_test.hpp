// A session that serves a golden model to a peer that the test plays.
#pragma once

#include <cstring>
#include <memory>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include <datum/base/mapping.hpp>
#include <datum/hw/registers.hpp>

#include "sim/server/session.hpp"
#include "tests/unit/vfio_user/raw_peer.hpp"

namespace datum::test {

class SessionTest : public ::testing::Test {
 protected:
  void SetUp() override { connect(); }

  void TearDown() override { disconnect(); }

  void connect() {
    auto board = sim::ServedBoard::create("model:memory=16M", 0);
    ASSERT_TRUE(board) << board.error().message;
    board_ = std::move(board).value();
    auto [ours, theirs] = make_connection();
    peer_ = std::make_unique<RawPeer>(std::move(ours));
    session_ = std::make_unique<sim::Session>(std::move(theirs), *board_, log_, "test");
    server_ = std::thread([this] { session_->serve(); });
  }

  void disconnect() {
    peer_.reset();
    if (server_.joinable()) {
      server_.join();
    }
    session_.reset();
    board_.reset();
  }

  RawPeer& peer() { return *peer_; }

  void negotiate() {
    vfio_user::Capabilities capabilities;
    capabilities.max_descriptors = 16;
    EXPECT_EQ(peer().error_of(Command::version, vfio_user::encode_version(capabilities)), 0U);
  }

  /// Whether the session still answers as it should.
  void expect_alive() {
    const auto reply = peer().ask(Command::region_read,
                                  vfio_user::as_message_body(vfio_user::RegionAccess{hw::magic, 0, 4}));
    ASSERT_EQ(reply.header.error, 0U);
    ASSERT_EQ(reply.body.size(), sizeof(vfio_user::RegionAccess) + 4);
    EXPECT_EQ(vfio_user::read_body<std::uint32_t>(std::span{reply.body}.subspan(16)), hw::magic_value);
  }

  std::uint32_t map(std::uint64_t iova, std::uint64_t bytes, std::uint32_t flags, int fd = -1,
                    std::uint64_t offset = 0) {
    const vfio_user::DmaMap request{32, flags, offset, iova, bytes};
    return peer().error_of(Command::dma_map, vfio_user::as_message_body(request), {&fd, fd >= 0 ? 1U : 0U});
  }

  std::uint32_t unmap(std::uint64_t iova, std::uint64_t bytes, std::uint32_t flags = 0) {
    const vfio_user::DmaUnmap request{24, flags, iova, bytes};
    return peer().error_of(Command::dma_unmap, vfio_user::as_message_body(request));
  }

  template <class Word>
  std::uint32_t write(std::uint32_t region, std::uint64_t offset, Word word) {
    auto body = vfio_user::as_message_body(vfio_user::RegionAccess{offset, region, sizeof word});
    vfio_user::append(body, word);
    return peer().error_of(Command::region_write, body);
  }

  template <class Word>
  Word read(std::uint32_t region, std::uint64_t offset) {
    const auto reply =
        peer().ask(Command::region_read,
                   vfio_user::as_message_body(vfio_user::RegionAccess{offset, region, sizeof(Word)}));
    EXPECT_EQ(reply.body.size(), sizeof(vfio_user::RegionAccess) + sizeof(Word));
    return vfio_user::read_body<Word>(std::span{reply.body}.subspan(sizeof(vfio_user::RegionAccess)));
  }

  sim::ActivityLog log_{false};
  std::unique_ptr<sim::ServedBoard> board_;
  std::unique_ptr<RawPeer> peer_;
  std::unique_ptr<sim::Session> session_;
  std::thread server_;
};

inline constexpr std::uint32_t register_bar = 0;
inline constexpr std::uint32_t aperture_bar = 2;
inline constexpr std::uint32_t message_bar = 4;

}  // namespace datum::test
