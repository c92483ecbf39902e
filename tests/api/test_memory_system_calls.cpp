// The kernel reads and writes host and shared memory: files, pipes, sockets.
#include <array>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <datum/base/unique_fd.hpp>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

constexpr std::size_t moved_bytes = 30'000;  // less than a pipe holds
constexpr MemoryKind host_kinds[] = {MemoryKind::host, MemoryKind::shared, MemoryKind::shared_without_device};

class MemorySystemCalls : public ApiTest {
 protected:
  /// What the board writes into memory of the host's.
  void fill_by_board(const OwnedMemory& block, const Bytes& content) {
    const OwnedMemory on_device = memory(MemoryKind::device, content.size());
    upload(on_device.get(), content);
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy(block.get(), on_device.get(), content.size()));
  }

  struct Ends {
    UniqueFd in;
    UniqueFd out;
  };

  static Ends pipe() {
    std::array<int, 2> ends{};
    EXPECT_EQ(0, ::pipe2(ends.data(), O_CLOEXEC));
    return {UniqueFd(ends[1]), UniqueFd(ends[0])};
  }

  static Ends sockets() {
    std::array<int, 2> ends{};
    EXPECT_EQ(0, ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()));
    return {UniqueFd(ends[0]), UniqueFd(ends[1])};
  }
};

TEST_F(MemorySystemCalls, given_bytes_of_the_board_when_written_to_a_file_then_they_are_in_the_file) {
  const auto ssize = static_cast<ssize_t>(moved_bytes);
  for (const MemoryKind kind : host_kinds) {
    const OwnedMemory block = memory(kind, moved_bytes);
    const Bytes content = pattern(moved_bytes, 1);
    fill_by_board(block, content);
    const UniqueFd file(::memfd_create("system-calls", MFD_CLOEXEC));
    ASSERT_EQ(ssize, ::write(file.get(), block.get(), moved_bytes)) << name_of(kind);
    Bytes found(moved_bytes);
    ASSERT_EQ(ssize, ::pread(file.get(), found.data(), moved_bytes, 0));
    EXPECT_TRUE(same_bytes(content, found)) << name_of(kind);
    const OwnedMemory other = memory(kind, moved_bytes);
    ASSERT_EQ(ssize, ::pread(file.get(), other.get(), moved_bytes, 0)) << name_of(kind);
    EXPECT_TRUE(same_bytes(content, download(other.get(), moved_bytes)))
        << "what the kernel wrote the board sees";
  }
}

TEST_F(MemorySystemCalls, given_bytes_of_the_board_when_sent_through_a_pipe_then_the_board_gets_them_back) {
  const auto ssize = static_cast<ssize_t>(moved_bytes);
  for (const MemoryKind kind : host_kinds) {
    const OwnedMemory from = memory(kind, moved_bytes);
    const OwnedMemory to = memory(kind, moved_bytes);
    const Bytes content = pattern(moved_bytes, 2);
    fill_by_board(from, content);
    const Ends ends = pipe();
    ASSERT_EQ(ssize, ::write(ends.in.get(), from.get(), moved_bytes)) << name_of(kind);
    ASSERT_EQ(ssize, ::read(ends.out.get(), to.get(), moved_bytes)) << name_of(kind);
    EXPECT_TRUE(same_bytes(content, download(to.get(), moved_bytes))) << name_of(kind);
  }
}

TEST_F(MemorySystemCalls, given_memory_in_pieces_when_sent_as_a_message_then_it_arrives_in_pieces) {
  for (const MemoryKind kind : host_kinds) {
    const OwnedMemory from = memory(kind, moved_bytes);
    const OwnedMemory to = memory(kind, moved_bytes);
    const Bytes content = pattern(moved_bytes, 3);
    fill_by_board(from, content);
    const Ends ends = sockets();
    iovec out[] = {{from.get(), 5000}, {from.bytes() + 5000, moved_bytes - 5000}};
    msghdr sent{};
    sent.msg_iov = out;
    sent.msg_iovlen = 2;
    ASSERT_EQ(static_cast<ssize_t>(moved_bytes), ::sendmsg(ends.in.get(), &sent, 0)) << name_of(kind);
    iovec in[] = {{to.get(), 12345}, {to.bytes() + 12345, moved_bytes - 12345}};
    msghdr received{};
    received.msg_iov = in;
    received.msg_iovlen = 2;
    ASSERT_EQ(static_cast<ssize_t>(moved_bytes), ::recvmsg(ends.out.get(), &received, MSG_WAITALL))
        << name_of(kind);
    EXPECT_TRUE(same_bytes(content, download(to.get(), moved_bytes))) << name_of(kind);
  }
}

TEST_F(MemorySystemCalls,
       given_device_memory_when_a_system_call_is_given_it_then_the_kernel_refuses_and_nobody_dies) {
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  const Ends ends = pipe();
  EXPECT_EQ(-1, ::write(ends.in.get(), block.get(), 4096));
  EXPECT_EQ(EFAULT, errno);
}

TEST_F(MemorySystemCalls,
       given_memory_that_the_board_may_only_read_when_a_file_is_read_into_it_then_the_board_sees_it) {
  const ze_host_mem_alloc_desc_t read_only{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr,
                                           ZE_HOST_MEM_ALLOC_FLAG_MEM_READ_ONLY};
  void* pointer = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemAllocHost(context(), &read_only, moved_bytes, 0, &pointer));
  const OwnedMemory block(context(), pointer);
  const Bytes content = pattern(moved_bytes, 4);
  const Ends ends = pipe();
  ASSERT_EQ(static_cast<ssize_t>(moved_bytes), ::write(ends.in.get(), content.data(), moved_bytes));
  ASSERT_EQ(static_cast<ssize_t>(moved_bytes), ::read(ends.out.get(), block.get(), moved_bytes));
  EXPECT_TRUE(same_bytes(content, download(block.get(), moved_bytes)));
}

}  // namespace
}  // namespace datum::test
