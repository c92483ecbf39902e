// From a failure to the word that tells of it, and back.
#pragma once

#include <cstdint>

#include <datum/base/result.hpp>

namespace datum {

class Device;
class Driver;

/// The event word of failure `number` of `device`'s FailureLog.
[[nodiscard]] std::uint64_t failure_word(Device& device, std::uint32_t number) noexcept;
/// What `word`, which has the error bit, tells of. Another process's failure has a general sentence: its log
/// is not ours.
[[nodiscard]] Error find_failure(Driver& driver, std::uint64_t word);

}  // namespace datum
