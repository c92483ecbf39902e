#include "driver/object/attitude.hpp"

#include <cstdlib>

#include "driver/object/driver.hpp"

namespace datum {
namespace {

constexpr std::string_view gpu_name = "gpu";

std::string_view text_of(const char* value) noexcept {
  return value != nullptr ? std::string_view(value) : std::string_view();
}

}  // namespace

Attitude attitude_of(const char* value) noexcept {
  return text_of(value) == gpu_name ? Attitude::gpu : Attitude::fpga;
}

bool is_attitude(const char* value) noexcept { return text_of(value).empty() || text_of(value) == gpu_name; }

Attitude attitude() noexcept {
  const Driver* driver = current_driver();
  return driver != nullptr ? driver->attitude() : attitude_of(std::getenv(attitude_variable));
}

}  // namespace datum
