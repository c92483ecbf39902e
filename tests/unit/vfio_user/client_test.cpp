// The client against servers that do not do as they should.
#include <csignal>
#include <functional>
#include <poll.h>
#include <sys/mman.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <datum/hw/registers.hpp>

#include "sim/server/session.hpp"
#include "sim/server/socket_listener.hpp"
#include "tests/support/board_server_process.hpp"
#include "tests/unit/vfio_user/raw_peer.hpp"
#include "vfio_backend/user/user_function.hpp"

namespace datum::test {
namespace {

using vfio_user::UserFunction;

class Client : public ::testing::Test {
 protected:
  Client() : path_(folder_.path("server")) {
    auto listener = sim::SocketListener::open(path_);
    EXPECT_TRUE(listener);
    listener_.emplace(std::move(listener).value());
  }

  ~Client() override {
    if (server_.joinable()) {
      server_.join();
    }
  }

  /// Plays the server for the next client.
  void serve(std::function<void(RawPeer&)> play) {
    server_ = std::thread([this, play = std::move(play)] {
      pollfd entry{listener_->descriptor(), POLLIN, 0};
      ASSERT_GT(::poll(&entry, 1, 10'000), 0);
      RawPeer peer(listener_->accept());
      play(peer);
    });
  }

  /// Answers `question` with `body`.
  static void reply(RawPeer& peer, const Message& question, std::span<const std::byte> body,
                    std::uint32_t error = 0) {
    Header header = question.header;
    header.flags = vfio_user::type_reply | (error != 0 ? vfio_user::flag_error : 0U);
    header.error = error;
    peer.send(header, body);
  }

  static void answer_version(RawPeer& peer) {
    if (const auto question = peer.receive()) {
      reply(peer, *question, vfio_user::encode_version({}));
    }
  }

  Error refusal() {
    const auto function = UserFunction::open("vfio-user:" + path_);
    return function ? make_error(ErrorCode::not_ready, "it was opened") : function.error();
  }

  PrivateFolder folder_;
  std::string path_;
  std::optional<sim::SocketListener> listener_;
  std::thread server_;
};

TEST_F(Client, given_addresses_that_cannot_be_when_opened_then_each_is_refused) {
  for (const std::string& path : {std::string(), std::string(200, 'x')}) {
    const auto function = UserFunction::open("vfio-user:" + path);
    ASSERT_FALSE(function);
    EXPECT_EQ(function.error().code, ErrorCode::invalid_argument);
  }
  const auto function = UserFunction::open("vfio-user:" + folder_.path("nothing"));
  ASSERT_FALSE(function);
  EXPECT_EQ(function.error().code, ErrorCode::not_available);
}

TEST_F(Client, given_a_server_that_closes_at_once_when_opened_then_the_board_is_lost) {
  serve([](RawPeer& peer) { peer.close(); });
  EXPECT_EQ(refusal().code, ErrorCode::device_lost);
}

TEST_F(Client, given_a_server_that_speaks_nonsense_when_opened_then_the_board_is_lost) {
  serve([](RawPeer& peer) {
    static_cast<void>(peer.receive());
    peer.send_raw(std::vector<std::byte>(64, std::byte{0x41}));
    static_cast<void>(peer.receive());
  });
  EXPECT_EQ(refusal().code, ErrorCode::device_lost);
}

TEST_F(Client, given_another_version_of_the_protocol_when_opened_then_the_sentence_names_both) {
  serve([](RawPeer& peer) {
    if (const auto question = peer.receive()) {
      reply(peer, *question, vfio_user::as_message_body(vfio_user::Version{3, 1}));
    }
    static_cast<void>(peer.receive());
  });
  const Error error = refusal();
  EXPECT_EQ(error.code, ErrorCode::unsupported_version);
  EXPECT_NE(error.message.find("3.1"), std::string::npos) << error.message;
}

TEST_F(Client, given_a_reply_to_another_command_when_opened_then_it_is_refused) {
  serve([](RawPeer& peer) {
    answer_version(peer);
    if (auto question = peer.receive()) {
      question->header.command = static_cast<std::uint16_t>(Command::region_read);
      reply(peer, *question, std::vector<std::byte>(16));
    }
    static_cast<void>(peer.receive());
  });
  EXPECT_EQ(refusal().code, ErrorCode::invalid_argument);
}

TEST_F(Client, given_a_device_that_is_no_pci_function_when_opened_then_it_is_unsupported) {
  serve([](RawPeer& peer) {
    answer_version(peer);
    if (const auto question = peer.receive()) {
      reply(peer, *question, vfio_user::as_message_body(vfio_user::DeviceInfo{16, 1, 9, 5}));
    }
    static_cast<void>(peer.receive());
  });
  EXPECT_EQ(refusal().code, ErrorCode::unsupported_feature);
}

TEST_F(Client, given_region_answers_that_make_no_sense_when_opened_then_nothing_is_mapped) {
  const UniqueFd file(::memfd_create("region", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(file.get(), 0x10000), 0);
  vfio_user::RegionInfo info{64, 15, 0, 32, 0x10000, 0};
  const auto answer = [&](vfio_user::SparseCapability sparse, vfio_user::SparseArea area) {
    auto body = vfio_user::as_message_body(info);
    vfio_user::append(body, sparse);
    vfio_user::append(body, area);
    return body;
  };
  const std::vector<std::vector<std::byte>> answers{
      std::vector<std::byte>(8),
      answer({1, 1, 32, 1, 0}, {0, 0x1000}),         // a chain that is a ring
      answer({1, 1, 4000, 1, 0}, {0, 0x1000}),       // leads out
      answer({1, 1, 0, 1000, 0}, {0, 0x1000}),       // more areas than there are
      answer({1, 1, 0, ~0U, 0}, {0, 0x1000}),        // so many that a product wraps
      answer({1, 1, 0, 1, 0}, {0x10000, 0x1000}),    // beyond the region
      answer({1, 1, 0, 1, 0}, {0x1000, ~0xfffULL}),  // wraps
      answer({1, 1, 0, 1, 0}, {0x800, 0x1000}),      // inside a page
  };
  for (std::size_t index = 0; index < answers.size(); ++index) {
    serve([&](RawPeer& peer) {
      answer_version(peer);
      if (const auto question = peer.receive()) {
        reply(peer, *question, vfio_user::as_message_body(vfio_user::DeviceInfo{16, 3, 9, 5}));
      }
      if (auto question = peer.receive()) {
        const int fd = file.get();
        question->header.flags = vfio_user::type_reply;
        peer.send(question->header, answers[index], {&fd, 1});
      }
      static_cast<void>(peer.receive());
    });
    EXPECT_EQ(refusal().code, ErrorCode::invalid_argument) << index;
    server_.join();
  }
}

/// A client of a real session whose other end the test can reach.
class ClientOfSession : public ::testing::Test {
 protected:
  void SetUp() override {
    server_ = std::make_unique<BoardServerProcess>("model:memory=16M", path_);
    auto function = UserFunction::open("vfio-user:" + path_);
    ASSERT_TRUE(function) << function.error().message;
    function_ = std::move(function).value();
  }

  PrivateFolder folder_;
  std::string path_ = folder_.path("board");
  std::unique_ptr<BoardServerProcess> server_;
  std::unique_ptr<UserFunction> function_;
};

TEST_F(ClientOfSession, given_a_board_when_opened_then_the_fixed_aperture_is_mapped) {
  EXPECT_EQ(function_->mapped_aperture_bytes(), 16U << 20U);
  EXPECT_NE(function_->info().name.find("golden model"), std::string::npos) << function_->info().name;
  EXPECT_EQ(function_->info().vectors, 66U);
}

TEST_F(ClientOfSession, given_a_server_that_died_when_memory_is_unmapped_then_it_is_given_back) {
  const Mapping memory(::mmap(nullptr, 0x1000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                       0x1000);
  ASSERT_TRUE(function_->dma_map(Iova{0x1000}, memory.span(), board::DmaAccess::read_write));
  server_->send(SIGKILL);
  static_cast<void>(server_->wait());
  while (function_->health()) {
  }
  EXPECT_TRUE(function_->dma_unmap(Iova{0x1000}, 0x1000));
  const auto again = function_->dma_map(Iova{0x1000}, memory.span(), board::DmaAccess::read_write);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::device_lost);
  EXPECT_NE(function_->health().error().message.find("has ended"), std::string::npos);
  EXPECT_EQ(function_->reset(board::ResetKind::hot).error().code, ErrorCode::device_lost);
}

TEST_F(ClientOfSession,
       given_a_forked_child_when_it_uses_the_board_then_it_is_refused_and_the_parent_goes_on) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool refused = !function_->health() && (*function_->bar(0))->read32(hw::magic) == ~0U;
    function_.reset();
    ::_exit(refused ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(function_->health());
}

}  // namespace
}  // namespace datum::test
