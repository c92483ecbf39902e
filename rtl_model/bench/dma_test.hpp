// What the tests of the DMA share: bytes to copy, and a reference that does what descriptors say.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "rtl_model/bench/dma_bench.hpp"
#include "rtl_model/bench/ring.hpp"

namespace datum::rtl_bench {

using Bytes = std::vector<std::uint8_t>;

inline Bytes random_bytes(std::uint64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(random());
  }
  return bytes;
}

inline Place dram(std::uint64_t address) { return {Target::dram, address}; }

inline Bytes bytes_at(DmaBench& bench, Place place, std::uint64_t count) {
  Bytes bytes(count);
  bench.memory().read(place, bytes);
  return bytes;
}

/// Does one descriptor on `memory`, with the mapping that the bench has by default. Only what moves bytes.
inline void do_descriptor(SparseMemory& memory, const hw::Descriptor& descriptor) {
  const auto place = [](std::uint16_t space, std::uint64_t va) {
    return Place{space == host_space     ? Target::host
                 : space == onchip_space ? Target::onchip
                                         : Target::dram,
                 va};
  };
  const auto move = [&](std::uint64_t src, std::uint64_t dst, std::uint64_t count) {
    Bytes bytes(count);
    memory.read(place(descriptor.src_space(), src), bytes);
    memory.write(place(descriptor.dst_space(), dst), bytes);
  };
  switch (descriptor.opcode()) {
  case hw::Opcode::copy:
    move(descriptor.src_address(), descriptor.dst_address(), descriptor.bytes());
    break;
  case hw::Opcode::copy_region:
    for (std::uint64_t plane = 0; plane < descriptor.region_planes(); ++plane) {
      for (std::uint64_t row = 0; row < descriptor.region_rows(); ++row) {
        move(descriptor.src_address() + plane * descriptor.src_slice_pitch() +
                 row * descriptor.src_row_pitch(),
             descriptor.dst_address() + plane * descriptor.dst_slice_pitch() +
                 row * descriptor.dst_row_pitch(),
             descriptor.region_x_bytes());
      }
    }
    break;
  case hw::Opcode::fill: {
    const std::uint64_t size = std::uint64_t{1} << descriptor.size_code();
    Bytes bytes(descriptor.bytes());
    for (std::uint64_t i = 0; i < bytes.size(); ++i) {
      const std::uint64_t at = i % size;
      const std::uint64_t half = at < 8 ? descriptor.pattern_low() : descriptor.pattern_high();
      bytes[i] = static_cast<std::uint8_t>(half >> (8 * (at % 8)));
    }
    memory.write(place(descriptor.dst_space(), descriptor.dst_address()), bytes);
    break;
  }
  case hw::Opcode::write_value: {
    Bytes bytes(std::size_t{1} << descriptor.size_code());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::uint8_t>(descriptor.value() >> (8 * i));
    }
    memory.write(place(descriptor.dst_space(), descriptor.dst_address()), bytes);
    break;
  }
  default:
    break;
  }
}

}  // namespace datum::rtl_bench
