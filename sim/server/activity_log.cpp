#include "sim/server/activity_log.hpp"

#include <cstdio>
#include <cstring>
#include <iterator>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

namespace datum::sim {

namespace {

using vfio_user::Command;
using vfio_user::read_body;

/// The body's own words; empty where it is too short for them, or says nothing.
std::string describe_body(Command command, std::span<const std::byte> body) {
  const auto holds = [&](std::size_t bytes) { return body.size() >= bytes; };
  if (command == Command::dma_map && holds(sizeof(vfio_user::DmaMap))) {
    const auto map = read_body<vfio_user::DmaMap>(body);
    return fmt::format(", {:#x} +{:#x}{}{}, offset {:#x}", map.iova, map.bytes,
                       (map.flags & vfio_user::dma_map_read) != 0 ? " r" : "",
                       (map.flags & vfio_user::dma_map_write) != 0 ? " w" : "", map.offset);
  }
  if (command == Command::dma_unmap && holds(sizeof(vfio_user::DmaUnmap))) {
    const auto unmap = read_body<vfio_user::DmaUnmap>(body);
    return fmt::format(", {:#x} +{:#x}", unmap.iova, unmap.bytes);
  }
  if ((command == Command::region_read || command == Command::region_write) &&
      holds(sizeof(vfio_user::RegionAccess))) {
    const auto access = read_body<vfio_user::RegionAccess>(body);
    std::string text =
        fmt::format(", region {} +{:#x}, {} bytes", access.region, access.offset, access.count);
    const auto data = body.subspan(sizeof access);
    if (data.size() == sizeof(std::uint32_t)) {
      fmt::format_to(std::back_inserter(text), " = {:#x}", read_body<std::uint32_t>(data));
    } else if (data.size() == sizeof(std::uint64_t)) {
      fmt::format_to(std::back_inserter(text), " = {:#x}", read_body<std::uint64_t>(data));
    }
    return text;
  }
  if ((command == Command::dma_read || command == Command::dma_write) &&
      holds(sizeof(vfio_user::DmaAccess))) {
    const auto access = read_body<vfio_user::DmaAccess>(body);
    return fmt::format(", {:#x} +{:#x}", access.iova, access.count);
  }
  if (command == Command::device_set_irqs && holds(sizeof(vfio_user::IrqSet))) {
    const auto set = read_body<vfio_user::IrqSet>(body);
    return fmt::format(", irq {} [{}, +{}), flags {:#x}", set.index, set.start, set.count, set.flags);
  }
  if (command == Command::device_get_region_info && holds(sizeof(vfio_user::RegionInfo))) {
    return fmt::format(", region {}", read_body<vfio_user::RegionInfo>(body).index);
  }
  if (command == Command::device_get_irq_info && holds(sizeof(vfio_user::IrqInfo))) {
    return fmt::format(", irq {}", read_body<vfio_user::IrqInfo>(body).index);
  }
  return {};
}

}  // namespace

std::string describe(const vfio_user::Header& header, std::span<const std::byte> body,
                     std::size_t descriptors) {
  const auto command = static_cast<Command>(header.command);
  const bool reply = (header.flags & vfio_user::flag_type_mask) == vfio_user::type_reply;
  std::string line = fmt::format("{} {}{}{}", vfio_user::name_of(command), header.id, reply ? " reply" : "",
                                 describe_body(command, body));
  if (descriptors != 0) {
    fmt::format_to(std::back_inserter(line), ", {} descriptors", descriptors);
  }
  if ((header.flags & vfio_user::flag_no_reply) != 0) {
    line += ", no reply wanted";
  }
  if ((header.flags & vfio_user::flag_error) != 0) {
    fmt::format_to(std::back_inserter(line), ", failed: {}", std::strerror(static_cast<int>(header.error)));
  }
  return line;
}

void ActivityLog::say(std::string_view board, std::string_view line) {
  const std::string text = fmt::format("datum-board: {}: {}\n", board, line);
  const ScopedLock lock(mutex_);
  std::fwrite(text.data(), 1, text.size(), to_);
}

void ActivityLog::show(std::string_view board, std::string_view direction, const vfio_user::Header& header,
                       std::span<const std::byte> body, std::size_t descriptors) {
  if (verbose_) {
    say(board, fmt::format("{} {}", direction, describe(header, body, descriptors)));
  }
}

}  // namespace datum::sim
