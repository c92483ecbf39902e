// What a program does with a board, every answer and every wait of it looked at.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include <datum/base/mapping.hpp>

#include "tests/support/own_driver.hpp"

namespace datum::test {

/// A program that goes on whatever it is answered, and says what no driver may do: answer with something that
/// the specification has no name for, fail without a sentence, or wait without a bound.
class HostileSession {
 public:
  HostileSession(OwnDriver& driver, std::uint64_t timeout_ns);

  /// Creates, copies, fills, waits, asks and destroys. Once.
  void run();

  /// Empty: nothing was wrong.
  [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }

  /// Calls that were answered with SUCCESS.
  [[nodiscard]] unsigned successes() const noexcept { return successes_; }

  /// How many of the calls told that the board is lost or that work failed.
  [[nodiscard]] unsigned losses() const noexcept { return losses_; }

 private:
  template <class Call>
  ze_result_t call(const char* name, Call&& call);
  void make_objects();
  void record(ze_command_list_handle_t list);
  void use_queue();
  void use_immediate_list();
  void ask();
  void destroy_objects();
  void judge(const char* name, ze_result_t code, std::chrono::steady_clock::duration took);

  OwnDriver& driver_;
  const ApiTables& api_ = api_tables();
  std::uint64_t timeout_ns_;
  std::string complaint_;
  unsigned successes_ = 0;
  unsigned losses_ = 0;
  Mapping ordinary_;  ///< the application's own memory, on pages of its own
  ze_context_handle_t context_ = nullptr;
  ze_command_queue_handle_t queue_ = nullptr;
  ze_command_list_handle_t list_ = nullptr;
  ze_command_list_handle_t immediate_ = nullptr;
  ze_event_pool_handle_t pool_ = nullptr;
  ze_event_handle_t first_ = nullptr;
  ze_event_handle_t second_ = nullptr;
  ze_fence_handle_t fence_ = nullptr;
  void* device_memory_ = nullptr;
  void* host_memory_ = nullptr;
  void* shared_memory_ = nullptr;
};

/// Whether the specification has a name for the code.
[[nodiscard]] bool is_named(ze_result_t code) noexcept;

}  // namespace datum::test
