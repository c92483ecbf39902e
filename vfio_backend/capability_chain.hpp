// The chains of capabilities that VFIO appends to its answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <linux/vfio.h>
#include <span>
#include <vector>

namespace datum::vfio {

/// Calls `visit(id, bytes from the capability's header on)` for each capability. Offsets come from the
/// kernel, but a broken chain must not lead out of the answer or round in circles: it ends there.
template <class Visit>
void visit_capabilities(std::span<const std::byte> answer, std::uint32_t first_offset, Visit visit) {
  std::uint32_t offset = first_offset;
  for (std::size_t seen = 0; offset != 0 && seen < answer.size(); ++seen) {
    if (offset > answer.size() || answer.size() - offset < sizeof(vfio_info_cap_header)) {
      return;
    }
    vfio_info_cap_header header{};
    std::memcpy(&header, answer.data() + offset, sizeof header);
    visit(header.id, answer.subspan(offset));
    offset = header.next;
  }
}

/// Asks with a structure of type `Info` that begins with argsz, again with more room where the kernel wants
/// it. Returns the ioctl's result; `answer` holds the structure and what follows it.
template <class Info, class Ask>
int ask_with_capabilities(Info request, std::vector<std::byte>& answer, Ask ask) {
  constexpr std::uint32_t most_bytes = 1U << 20U;
  std::uint32_t bytes = sizeof(Info);
  for (;;) {
    answer.assign(bytes, std::byte{0});
    request.argsz = bytes;
    std::memcpy(answer.data(), &request, sizeof request);
    const int result = ask(answer.data());
    Info got{};
    std::memcpy(&got, answer.data(), sizeof got);
    if (result < 0 || got.argsz <= bytes || got.argsz > most_bytes) {
      return result;
    }
    bytes = got.argsz;
  }
}

}  // namespace datum::vfio
