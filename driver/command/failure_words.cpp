#include "driver/command/failure_words.hpp"

#include "driver/command/event_word.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum {

std::uint64_t failure_word(Device& device, std::uint32_t number) noexcept {
  return event_word::failure(device.driver().exports().process_tag(), device.index(), number);
}

Error find_failure(Driver& driver, std::uint64_t word) {
  if (event_word::failed_process(word) != driver.exports().process_tag()) {
    return make_error(ErrorCode::unknown,
                      "work of another process that would have signalled the event failed",
                      "the process that submitted the work knows why");
  }
  const unsigned device = event_word::failed_device(word);
  return device < driver.devices().size()
             ? driver.devices()[device]->rings().failure(event_word::failure_number(word))
             : make_error(ErrorCode::unknown, "the work that would have signalled the event failed");
}

}  // namespace datum
