// The exporter's thread that hands descriptors out.
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "driver/memory/dma_buf.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/memory/ipc_broker.hpp"
#include "driver/memory/open_shared_file.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

class IpcBrokerTest : public ::testing::Test {
 protected:
  IpcBrokerTest()
      : token_(*make_ipc_token()),
        file_(std::move(*make_shared_file(SharedKind::host, token_, page))),
        broker_(std::move(*IpcBroker::start([this](const IpcToken& token) { return find(token); }))) {}

  Result<UniqueFd> find(const IpcToken& token) {
    ++asked_;
    return token == token_ ? Result<UniqueFd>(UniqueFd(::dup(file_.get())))
                           : Result<UniqueFd>(make_error(ErrorCode::invalid_argument, "no"));
  }

  UniqueFd connect_raw() {
    UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const std::string text =
        fmt::format("datum-ipc.{}.{:016x}", broker_->address().process, broker_->address().number);
    std::memcpy(name.sun_path + 1, text.data(), text.size());
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    EXPECT_EQ(::connect(socket.get(), reinterpret_cast<sockaddr*>(&name), bytes), 0);
    return socket;
  }

  std::atomic<int> asked_ = 0;
  IpcToken token_;
  UniqueFd file_;
  std::unique_ptr<IpcBroker> broker_;
};

TEST_F(IpcBrokerTest, given_a_known_token_then_the_descriptor_of_the_file_comes) {
  const Result<UniqueFd> sent = ask_ipc_broker(broker_->address(), token_);
  ASSERT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_EQ(identify_shared_file(sent->get())->token, token_);
}

TEST_F(IpcBrokerTest, given_an_unknown_token_or_number_then_nothing_comes) {
  EXPECT_EQ(ask_ipc_broker(broker_->address(), *make_ipc_token()).error().code, ErrorCode::invalid_argument);
  BrokerAddress other = broker_->address();
  other.number ^= 2;
  EXPECT_EQ(ask_ipc_broker(other, token_).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(ask_ipc_broker({}, token_).error().code, ErrorCode::invalid_argument);
}

TEST_F(IpcBrokerTest, given_the_end_of_the_broker_then_nobody_answers) {
  const BrokerAddress address = broker_->address();
  broker_.reset();
  EXPECT_EQ(ask_ipc_broker(address, token_).error().code, ErrorCode::invalid_argument);
}

TEST_F(IpcBrokerTest, given_peers_that_say_nothing_or_nonsense_then_others_are_served_at_once) {
  std::vector<UniqueFd> silent;
  for (int peer = 0; peer < 20; ++peer) {
    silent.push_back(connect_raw());
  }
  const UniqueFd rude = connect_raw();
  const std::string nonsense(5000, 'x');
  EXPECT_GT(::send(rude.get(), nonsense.data(), nonsense.size(), MSG_NOSIGNAL), 0);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(ask_ipc_broker(broker_->address(), token_).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  char byte = 0;
  EXPECT_EQ(::recv(rude.get(), &byte, 1, 0), 0) << "who does not know the protocol is hung up on";
  EXPECT_EQ(asked_, 1);
}

TEST_F(IpcBrokerTest, given_many_threads_that_ask_then_all_are_answered) {
  std::atomic<int> served = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        served += ask_ipc_broker(broker_->address(), token_).ok() ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(served, 400);
}

TEST_F(IpcBrokerTest, given_a_fork_then_the_child_keeps_no_socket_that_nobody_answers) {
  int hold[2];
  ASSERT_EQ(::pipe(hold), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    char byte = 0;
    ::close(hold[1]);
    ::_exit(::read(hold[0], &byte, 1) == 0 ? 0 : 1);
  }
  const BrokerAddress address = broker_->address();
  EXPECT_TRUE(ask_ipc_broker(address, token_).ok());
  broker_.reset();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_FALSE(ask_ipc_broker(address, token_).ok());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  ::close(hold[0]);
  ::close(hold[1]);
  int status = 0;
  ::waitpid(child, &status, 0);
}

class ExportTableTest : public ::testing::Test {
 protected:
  static std::unique_ptr<ExportedFile> make_file() {
    UniqueFd fd = std::move(*make_shared_file(SharedKind::host, *make_ipc_token(), page));
    const SharedFileIdentity identity = *identify_shared_file(fd.get());
    return std::make_unique<ExportedFile>(std::move(fd), identity, page);
  }

  /// The first handle of a new export.
  IpcHandleBytes add(std::uint64_t id) {
    table_.add(id, make_file());
    return *table_.get(id);
  }

  Result<int> descriptor() { return table_.descriptor(7, ExternalType::opaque); }

  ExportTable table_;
};

TEST_F(ExportTableTest, given_handles_of_one_allocation_then_they_are_equal_and_each_is_put_once) {
  const IpcHandleBytes first = add(7);
  EXPECT_EQ(table_.get(7), first);
  EXPECT_EQ(table_.counts().handles, 2U);
  const IpcHandle handle = *decode_ipc_handle(first);
  EXPECT_TRUE(table_.put(handle).ok());
  EXPECT_TRUE(table_.put(handle).ok());
  EXPECT_EQ(table_.put(handle).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(table_.counts().files, 1U) << "an importer may still share it";
  EXPECT_EQ(table_.get(7), first);
  EXPECT_TRUE(table_.put({handle.fd, std::nullopt}).ok()) << "the descriptor alone is a handle too";
  table_.remove(7);
  EXPECT_EQ(table_.counts().files, 0U);
  EXPECT_EQ(table_.get(7), std::nullopt);
}

TEST_F(ExportTableTest, given_a_freed_allocation_then_its_handles_count_no_more_and_may_still_be_put) {
  const IpcHandle handle = *decode_ipc_handle(add(7));
  ASSERT_TRUE(open_shared_file({-1, handle.hints}).ok()) << "the broker has it";
  table_.remove(7);
  EXPECT_EQ(table_.counts().handles, 0U);
  EXPECT_EQ(open_shared_file(handle).error().code, ErrorCode::invalid_argument);
  EXPECT_TRUE(table_.put(handle).ok());
  EXPECT_FALSE(table_.put(handle).ok());
}

TEST_F(ExportTableTest, given_a_descriptor_that_the_application_closed_then_its_number_is_left_alone) {
  const IpcHandle handle = *decode_ipc_handle(add(7));
  UniqueFd foreign(::memfd_create("foreign", MFD_CLOEXEC));
  ASSERT_EQ(::dup2(foreign.get(), handle.fd), handle.fd);
  EXPECT_FALSE(open_shared_file(handle).ok());
  EXPECT_TRUE(table_.put(handle).ok());
  table_.remove(7);
  EXPECT_EQ(::write(handle.fd, "x", 1), 1) << "somebody else's file was closed";
  ::close(handle.fd);
}

TEST_F(ExportTableTest, given_no_offer_then_there_is_no_descriptor_and_with_one_it_outlives_being_closed) {
  DmaBufs no_dma_bufs(linux_dma_bufs());
  const ExternalTypes types{.opaque = true};
  EXPECT_EQ(table_.offer(7, types, no_dma_bufs).error().code, ErrorCode::invalid_argument);
  table_.add(7, make_file());
  EXPECT_EQ(descriptor().error().code, ErrorCode::invalid_argument);
  ASSERT_TRUE(table_.offer(7, types, no_dma_bufs).ok());
  EXPECT_EQ(table_.descriptor(7, ExternalType::dma_buf).error().code, ErrorCode::invalid_argument);
  const int first = *descriptor();
  EXPECT_EQ(*descriptor(), first);
  const UniqueFd foreign(::memfd_create("foreign", MFD_CLOEXEC));
  ASSERT_EQ(::dup2(foreign.get(), first), first) << "closed, and the number is somebody else's";
  const int second = *descriptor();
  EXPECT_NE(second, first);
  EXPECT_TRUE(identify_shared_file(second).ok());
  EXPECT_EQ(decode_ipc_handle(*table_.get(7))->fd, second);
  EXPECT_TRUE(table_.put({second, std::nullopt}).ok());
  EXPECT_TRUE(table_.put({second, std::nullopt}).ok()) << "an offered descriptor may be put at any time";
  table_.remove(7);
  EXPECT_EQ(::fcntl(second, F_GETFD), -1);
  EXPECT_EQ(::write(first, "x", 1), 1) << "somebody else's file was closed";
  ::close(first);
}

TEST_F(ExportTableTest, given_a_descriptor_of_another_process_then_a_handle_is_made_of_it_and_put) {
  const std::unique_ptr<ExportedFile> foreign = make_file();
  const IpcHandle handle = *decode_ipc_handle(table_.adopt(foreign->fd(), foreign->identity()));
  EXPECT_EQ(handle.fd, foreign->fd());
  EXPECT_TRUE(open_shared_file(handle).ok());
  EXPECT_TRUE(table_.put(handle).ok());
  EXPECT_FALSE(table_.put(handle).ok());
}

}  // namespace
}  // namespace datum
