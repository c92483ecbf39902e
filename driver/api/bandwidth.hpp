// How fast a board moves bytes by design, as its registers and the board contract have it.
#pragma once

#include <cstdint>

#include <level_zero/ze_api.h>

namespace datum {
class Device;
}  // namespace datum

namespace datum::api {

/// Width of the memories' ports.
inline constexpr std::uint32_t memory_port_bits = 512;

/// One beat of the memory's port in each cycle, in bytes a nanosecond.
[[nodiscard]] std::uint32_t memory_bandwidth(Device& device) noexcept;
/// Of the copy engine: a beat is read while another is written.
void fill_copy_bandwidth(Device& device, ze_copy_bandwidth_exp_properties_t& properties) noexcept;
/// Between two boards the links are unknown; a board reaches itself as fast as its memory goes.
void fill_p2p_bandwidth(Device& device, const Device& peer,
                        ze_device_p2p_bandwidth_exp_properties_t& properties) noexcept;

}  // namespace datum::api
