#include "tests/fuzz/protocol_input.hpp"

#include <array>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <datum/hw/registers.hpp>

#include "vfio_user/capabilities.hpp"

namespace datum::test {
namespace {

using namespace vfio_user;

constexpr std::uint64_t page_bytes = 4096;

std::uint64_t draw_pages(Input& input, std::uint64_t most) {
  return page_bytes * input.below(most) + (input.below(16) == 0 ? input.below(page_bytes) : 0);
}

/// A register that does something, or anywhere in a region.
std::uint64_t draw_offset(std::uint32_t region, std::uint32_t count, Input& input) {
  if (region == 0 && input.flip()) {
    return count * input.below(0x10000 / std::max(count, 1U));
  }
  return input.below(1U << (input.flip() ? 8U : 20U));
}

RegionAccess draw_access(Input& input) {
  constexpr std::array<std::uint32_t, 6> counts{4, 8, 2, 1, 64, 3};
  RegionAccess access;
  access.region = static_cast<std::uint32_t>(input.below(10));
  access.count = counts[input.below(counts.size())];
  access.offset = draw_offset(access.region, access.count, input);
  return access;
}

std::vector<std::byte> draw_version(Input& input) {
  Capabilities capabilities;
  capabilities.max_descriptors = static_cast<std::uint32_t>(input.below(20));
  if (input.flip()) {
    capabilities.board.emplace();
    capabilities.board->name.assign(input.below(4), 'b');
  }
  return encode_version(capabilities);
}

}  // namespace

Connection make_connection() {
  std::array<int, 2> ends{-1, -1};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "a pair of sockets");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

UniqueFd make_file(std::size_t bytes) {
  UniqueFd file(::memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  require(file.valid() && ::ftruncate(file.get(), static_cast<off_t>(bytes)) == 0 &&
              ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0,
          "a memory file");
  return file;
}

void change_bytes(std::vector<std::byte>& bytes, Input& input) {
  const std::uint64_t how = input.below(8);
  if (how == 0) {
    bytes.resize(input.below(64));
  }
  for (std::uint64_t changes = how < 3 ? input.below(4) : 0; changes != 0 && !bytes.empty(); --changes) {
    bytes[input.below(bytes.size())] ^= input.number<std::byte>();
  }
}

std::vector<std::byte> draw_command_body(Command command, Input& input) {
  switch (command) {
  case Command::version:
    return draw_version(input);
  case Command::dma_map:
    return as_message_body(DmaMap{sizeof(DmaMap), static_cast<std::uint32_t>(input.below(5)),
                                  draw_pages(input, 4), draw_pages(input, 64), draw_pages(input, 6)});
  case Command::dma_unmap:
    return as_message_body(DmaUnmap{sizeof(DmaUnmap), static_cast<std::uint32_t>(input.below(4)),
                                    draw_pages(input, 64), draw_pages(input, 6)});
  case Command::device_get_info:
    return as_message_body(DeviceInfo{sizeof(DeviceInfo), 0, 0, 0});
  case Command::device_get_region_info: {
    RegionInfo info;
    info.argsz = static_cast<std::uint32_t>(input.flip() ? 4096 : input.below(100));
    info.index = static_cast<std::uint32_t>(input.below(10));
    return as_message_body(info);
  }
  case Command::device_get_irq_info:
    return as_message_body(IrqInfo{sizeof(IrqInfo), 0, static_cast<std::uint32_t>(input.below(6)), 0});
  case Command::device_set_irqs: {
    auto body = as_message_body(IrqSet{sizeof(IrqSet), static_cast<std::uint32_t>(input.below(64)),
                                       static_cast<std::uint32_t>(input.below(6)),
                                       static_cast<std::uint32_t>(input.below(12)),
                                       static_cast<std::uint32_t>(input.below(12))});
    for (std::uint64_t data = input.below(4) * input.below(4); data != 0; --data) {
      append(body, input.number<std::uint8_t>());
    }
    return body;
  }
  case Command::region_read:
    return as_message_body(draw_access(input));
  case Command::region_write: {
    const RegionAccess access = draw_access(input);
    auto body = as_message_body(access);
    const auto drawn = std::as_bytes(input.bytes(access.count));
    body.insert(body.end(), drawn.begin(), drawn.end());
    body.resize(sizeof access + access.count);
    return body;
  }
  case Command::dma_read:
  case Command::dma_write: {
    const DmaAccess access{draw_pages(input, 64), input.below(256)};
    auto body = as_message_body(access);
    body.resize(body.size() + (command == Command::dma_write ? access.count : 0));
    return body;
  }
  default:
    return {};
  }
}

}  // namespace datum::test
