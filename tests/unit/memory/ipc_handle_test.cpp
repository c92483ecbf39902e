// The 64 bytes, and what a descriptor says about itself.
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <datum/base/address.hpp>

#include "driver/memory/ipc_handle.hpp"
#include "driver/memory/open_shared_file.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

struct SharedFile {
  UniqueFd fd;
  SharedFileIdentity identity;
};

SharedFile make_file(std::uint64_t bytes = 2 * page, SharedKind kind = SharedKind::host) {
  Result<UniqueFd> fd = make_shared_file(kind, *make_ipc_token(), bytes);
  EXPECT_TRUE(fd.ok());
  const SharedFileIdentity identity = *identify_shared_file(fd->get());
  return {std::move(*fd), identity};
}

IpcHandle handle_of(const SharedFile& file, std::uint64_t size_bytes) {
  return {file.fd.get(), IpcHints{file.identity, size_bytes, {}}};
}

TEST(IpcHandle, given_hints_when_they_travel_as_bytes_then_they_arrive) {
  const SharedFile file = make_file();
  IpcHandle handle = handle_of(file, 2 * page - 7);
  handle.hints->broker = {1234, 0x1122334455667788};
  handle.hints->rights = {.writable = false, .cache_policy = 2};
  handle.hints->file.bytes = 0;  // which is not sent
  const IpcHandle arrived = *decode_ipc_handle(encode(handle));
  EXPECT_EQ(arrived.fd, handle.fd);
  EXPECT_EQ(arrived.hints, handle.hints);
  EXPECT_TRUE(agree(*arrived.hints, file.identity));
}

TEST(IpcHandle, given_the_point_of_an_event_when_it_travels_with_its_file_then_it_arrives) {
  const SharedFile file = make_file(page, SharedKind::counter);
  IpcHandle handle = handle_of(file, 0);
  handle.hints->point = {0x1122334455667788, 0x7f, 4, 7};
  handle.hints->file.bytes = 0;  // which is not sent
  const IpcHandle arrived = *decode_ipc_handle(encode(handle));
  EXPECT_EQ(arrived.hints, handle.hints);
  EXPECT_TRUE(agree(*arrived.hints, file.identity));
  EXPECT_FALSE(agree(*arrived.hints, make_file(page, SharedKind::counter).identity));
  EXPECT_FALSE(agree(*arrived.hints, make_file(page, SharedKind::events).identity));
}

TEST(IpcHandle, given_only_a_descriptor_when_decoded_then_there_are_no_hints) {
  const IpcHandle arrived = *decode_ipc_handle(encode({77, std::nullopt}));
  EXPECT_EQ(arrived.fd, 77);
  EXPECT_FALSE(arrived.hints.has_value());
}

TEST(IpcHandle, given_random_bytes_then_they_are_no_handle) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 10'000; ++round) {
    IpcHandleBytes bytes{};
    for (char& byte : bytes) {
      byte = static_cast<char>(random());
    }
    const Result<IpcHandle> decoded = decode_ipc_handle(bytes);
    ASSERT_FALSE(decoded.ok());
    ASSERT_EQ(decoded.error().code, ErrorCode::invalid_argument);
  }
}

TEST(IpcHandle, given_any_bit_of_the_hints_flipped_then_the_descriptor_is_not_taken) {
  const SharedFile file = make_file();
  const IpcHandleBytes good = encode(handle_of(file, 2 * page));
  ASSERT_TRUE(open_shared_file(*decode_ipc_handle(good)).ok());
  constexpr std::size_t broker_and_process = 8 + 4;
  std::size_t refused = 0;
  for (std::size_t bit = 8 * sizeof(std::int32_t); bit < 8 * good.size(); ++bit) {
    IpcHandleBytes bytes = good;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    const Result<IpcHandle> decoded = decode_ipc_handle(bytes);
    refused += !decoded.ok() || !open_shared_file(*decoded).ok() ? 1 : 0;
  }
  // Where to ask does not matter when the descriptor is right; a size may shrink within the last page; rights
  // are the exporter's word, and no bar to who has the descriptor.
  constexpr std::size_t bits_of_rights = 4;
  EXPECT_GE(refused, 8 * (good.size() - sizeof(std::int32_t) - broker_and_process) - 13 - bits_of_rights);
}

TEST(SharedFile, given_a_file_then_its_descriptor_tells_kind_token_and_length) {
  const IpcToken token = *make_ipc_token();
  const UniqueFd fd = std::move(*make_shared_file(SharedKind::device, token, 3 * page));
  const SharedFileIdentity identity = *identify_shared_file(fd.get());
  EXPECT_EQ(identity.kind, SharedKind::device);
  EXPECT_EQ(identity.token, token);
  EXPECT_EQ(identity.bytes, 3 * page);
  const UniqueFd copy(::dup(fd.get()));
  EXPECT_EQ(*identify_shared_file(copy.get()), identity);
  EXPECT_NE(::ftruncate(fd.get(), 0), 0);
  EXPECT_NE(::ftruncate(fd.get(), 100 * page), 0);
}

TEST(SharedFile, given_descriptors_of_something_else_then_they_are_refused) {
  const auto refused = [](int fd) {
    const Result<SharedFileIdentity> identity = identify_shared_file(fd);
    return !identity.ok() && identity.error().code == ErrorCode::invalid_argument;
  };
  EXPECT_TRUE(refused(-1));
  EXPECT_TRUE(refused(999'999));
  const UniqueFd plain(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const UniqueFd folder(::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_TRUE(refused(plain.get()));
  EXPECT_TRUE(refused(folder.get()));
  EXPECT_TRUE(refused(socket.get()));
  const auto memfd = [](const std::string& name, std::uint64_t bytes, int seals) {
    UniqueFd fd(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(bytes)), 0);
    EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
    return fd;
  };
  constexpr int all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  const std::string name = shared_file_label(SharedKind::host, *make_ipc_token());
  EXPECT_FALSE(refused(memfd(name, page, all).get()));
  EXPECT_TRUE(refused(memfd(name, page, F_SEAL_GROW | F_SEAL_SEAL).get())) << "it could shrink";
  EXPECT_TRUE(refused(memfd(name, page + 1, all).get()));
  EXPECT_TRUE(refused(memfd(name, 0, all).get()));
  for (const std::string& other :
       {std::string("datum:h:"), name + "0", name.substr(1), "datum:x" + name.substr(7),
        name.substr(0, name.size() - 1) + "g", std::string("something")}) {
    EXPECT_TRUE(refused(memfd(other, page, all).get())) << other;
  }
}

TEST(SharedFile, given_the_descriptor_of_other_shared_memory_then_hints_tell_them_apart) {
  const SharedFile one = make_file();
  const SharedFile other = make_file();
  IpcHandle handle = handle_of(one, 2 * page);
  handle.fd = other.fd.get();
  EXPECT_FALSE(holds_its_descriptor(handle));
  EXPECT_EQ(open_shared_file(handle).error().code, ErrorCode::invalid_argument);
  handle.hints.reset();
  EXPECT_EQ(open_shared_file(handle)->identity, other.identity);
}

TEST(SharedFile, given_an_opened_file_then_it_outlives_the_descriptor_that_was_sent) {
  SharedFile file = make_file();
  const OpenedFile opened = std::move(*open_shared_file(handle_of(file, page + 1)));
  file.fd.reset();
  EXPECT_EQ(*identify_shared_file(opened.fd.get()), file.identity);
  EXPECT_EQ(opened.size_bytes, page + 1);
}

}  // namespace
}  // namespace datum
