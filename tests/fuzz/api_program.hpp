// A program of the API that a fuzzer drew, and a model of what the API must do with it: which memory is live,
// what a question about a pointer is answered, and which bytes are where.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tests/fuzz/input.hpp"
#include "tests/support/own_driver.hpp"

namespace datum::test {

/// Bytes that may be seen at several places. What nobody has written yet is anything.
struct Content {
  explicit Content(std::size_t size) : bytes(size), known(size) {}

  std::vector<std::uint8_t> bytes;
  std::vector<bool> known;
};

/// Memory at an address of a context: an allocation, memory that was opened, or a mapping.
struct Place {
  enum class Kind : std::uint8_t { allocation, opened, mapping };

  Kind kind = Kind::allocation;
  std::uintptr_t address = 0;
  std::size_t size = 0;
  std::size_t context = 0;
  ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
  std::shared_ptr<Content> content;
  std::size_t offset = 0;  ///< in the content
  bool boards_may_write = true;

  [[nodiscard]] bool host_sees() const noexcept { return type != ZE_MEMORY_TYPE_DEVICE; }

  [[nodiscard]] bool covers(std::uintptr_t at, std::size_t bytes) const noexcept {
    return at >= address && at - address <= size && bytes <= size - (at - address);
  }
};

class ApiProgram {
 public:
  ApiProgram(OwnDriver& driver, Input& input);

  /// The next call or few, and what must come of it.
  void step();
  /// Gives everything back, which must be possible.
  void end();

 private:
  struct Command {
    std::uintptr_t dst = 0;
    std::uintptr_t src = 0;
    std::size_t bytes = 0;
    std::vector<std::uint8_t> pattern;  ///< empty: a copy
  };

  struct World {
    ze_context_handle_t handle = nullptr;
    ze_command_list_handle_t immediate = nullptr;
    ze_command_queue_handle_t queue = nullptr;
    ze_command_list_handle_t list = nullptr;
    bool closed = false;
    std::vector<Command> recorded;
    ze_event_pool_handle_t pool = nullptr;
    std::array<ze_event_handle_t, 4> events{};
    std::array<bool, 4> signalled{};
  };

  struct Reservation {
    std::uintptr_t address = 0;
    std::size_t size = 0;
    std::size_t context = 0;
  };

  struct Physical {
    ze_physical_mem_handle_t handle = nullptr;
    std::size_t context = 0;
    ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
    std::shared_ptr<Content> content;
  };

  // Objects (api_program.cpp)
  void make_world(World& world);
  void end_world(World& world);

  // Memory (api_program_memory.cpp)
  void allocate();
  void free_one();
  void free_wrong();
  void ask();
  void share();
  void reserve();
  void make_physical();
  void map();
  void unmap();
  void free_reservation();
  void end_memory();
  void drop(std::size_t place);

  // Commands (api_program_commands.cpp)
  void command_now();
  void record();
  void execute();
  void use_host();
  void use_event();
  [[nodiscard]] Command draw_command(std::size_t context);
  ze_result_t append(ze_command_list_handle_t list, const Command& command);
  [[nodiscard]] Place* place_of(std::size_t context, std::uintptr_t at, std::size_t bytes);
  /// What the model expects: SUCCESS and effects, or a refusal without any.
  [[nodiscard]] bool is_right(std::size_t context, const Command& command);
  void apply(std::size_t context, const Command& command);
  void check_bytes(const Place& place);

  void succeed(ze_result_t code, const char* what);
  void judge(ze_result_t code);

  [[nodiscard]] std::size_t draw_context() { return input_.below(worlds_.size()); }

  OwnDriver& driver_;
  Input& input_;
  const ApiTables& api_ = api_tables();
  std::array<World, 2> worlds_;
  std::vector<Place> places_;
  std::vector<Reservation> reservations_;
  std::vector<Physical> physicals_;
  std::vector<std::uintptr_t> freed_;
};

}  // namespace datum::test
