#include "driver/object/driver.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>
#include <datum/base/shown_text.hpp>

#include "driver/command/ring_scheduler.hpp"
#include "driver/device/backend_table.hpp"
#include "driver/device/board.hpp"
#include "driver/device/board_addresses.hpp"
#include "driver/device/limits.hpp"
#include "driver/memory/address_window.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/memory/host_pool.hpp"
#include "driver/object/board_choice.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/process_life.hpp"
#include "driver/trace/trace.hpp"

namespace datum {
namespace {

/// The driver of one life of the process chain. A forked child finds its parent's and leaves it alone.
struct Current {
  std::uint32_t life = 0;
  Driver* driver = nullptr;
  std::vector<Error> left_out;
};

constinit std::atomic<const Current*> current{nullptr};

void introduce_stepped_boards(const std::vector<std::unique_ptr<Device>>& devices) {
  for (const std::unique_ptr<Device>& device : devices) {
    std::vector<board::PcieFunction*> neighbours;
    for (const std::unique_ptr<Device>& other : devices) {
      if (other != device && other->board().hub().own_time()) {
        neighbours.push_back(&other->board().function());
      }
    }
    device->board().hub().set_stepped_neighbours(std::move(neighbours));
  }
}

/// Boards that were asked for must all be there; of cards that nobody named, one that cannot be opened leaves
/// its reason in `left_out`.
Result<std::unique_ptr<Driver>> open_driver(const std::vector<std::string>& addresses, bool named,
                                            std::vector<Error>& left_out) {
  if (named) {
    return Driver::open(addresses);
  }
  Result<std::vector<std::unique_ptr<Board>>> boards = open_usable_boards(addresses, left_out);
  return boards.ok() ? Driver::create(std::move(*boards)) : std::move(boards).error();
}

}  // namespace

Driver::Driver() : attitude_(attitude_of(std::getenv(attitude_variable))) {}

Driver::~Driver() {
  unregister_handle(handle_);
  former_default_contexts_.clear();
  delete default_context_.load();
  for (const std::unique_ptr<Device>& device : devices_) {
    device->board().hub().set_stepped_neighbours({});
    device->rings().end_worker();
  }
  devices_.clear();
}

Result<std::unique_ptr<Driver>> Driver::create(std::vector<std::unique_ptr<Board>> boards) {
  std::unique_ptr<Driver> driver(new Driver);
  driver->registry_ = std::make_unique<Registry>();
  Result<std::unique_ptr<AddressWindow>> window = AddressWindow::reserve();
  if (!window.ok()) {
    return std::move(window).error();
  }
  driver->window_ = std::move(*window);
  driver->host_pool_ = std::make_unique<HostPool>(*driver->window_);
  driver->exports_ = std::make_unique<ExportTable>();
  unsigned index = 0;
  for (std::unique_ptr<Board>& board : boards) {
    Result<std::unique_ptr<Device>> device = Device::create(*driver, std::move(board), index++);
    if (!device.ok()) {
      return std::move(device).error();
    }
    driver->devices_.push_back(std::move(*device));
  }
  introduce_stepped_boards(driver->devices_);
  Result<HandleSlot*> slot = register_handle(ObjectType::driver, driver.get());
  if (!slot.ok()) {
    return std::move(slot).error();
  }
  driver->handle_ = *slot;
  return driver;
}

Result<Context*> Driver::default_context() {
  if (Context* made = default_context_.load(std::memory_order_acquire); made && !made->outlived_by_board()) {
    return made;
  }
  const ScopedLock lock(default_context_mutex_);
  Context* const made = default_context_.load(std::memory_order_acquire);
  if (made != nullptr && !made->outlived_by_board()) {
    return made;
  }
  std::vector<Device*> devices;
  for (const std::unique_ptr<Device>& device : devices_) {
    if (Status alive = device->board().health(); !alive.ok()) {
      return std::move(alive).error();
    }
    devices.push_back(device.get());
  }
  Result<std::unique_ptr<Context>> context = Context::create(*this, std::move(devices));
  if (!context.ok()) {
    return std::move(context).error();
  }
  if (made != nullptr) {
    former_default_contexts_.emplace_back(made);  // the application may have objects in it
  }
  default_context_.store(context->get(), std::memory_order_release);
  return std::move(*context).release();
}

bool Driver::owns(const Context& context) noexcept {
  const ScopedLock lock(default_context_mutex_);
  return default_context_.load(std::memory_order_acquire) == &context ||
         std::any_of(former_default_contexts_.begin(), former_default_contexts_.end(),
                     [&](const std::unique_ptr<Context>& former) { return former.get() == &context; });
}

Result<std::unique_ptr<Driver>> Driver::open(const std::vector<std::string>& addresses) {
  std::vector<std::unique_ptr<Board>> boards;
  for (const std::string& address : addresses) {
    Result<std::unique_ptr<Board>> board = Board::open(address);
    if (!board.ok()) {
      Error error = std::move(board).error();
      error.message = fmt::format("the board {} cannot be used: {}", shown_text(address), error.message);
      return error;
    }
    boards.push_back(std::move(*board));
  }
  return create(std::move(boards));
}

std::vector<std::string> split_board_addresses(std::string_view text) {
  std::vector<std::string> addresses;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view piece = trimmed(text.substr(at, end - at));
    if (piece.empty()) {
      // a comma too many, which check_board_list refuses
    } else if (addresses.empty() || begins_board_address(piece)) {
      addresses.emplace_back(piece);
    } else {
      const char* const separator = addresses.back().find(':') == std::string::npos ? ":" : ",";
      addresses.back().append(separator).append(piece);
    }
    at = end + 1;
  }
  return addresses;
}

Driver* current_driver() noexcept {
  const Current* known = current.load(std::memory_order_acquire);
  return known != nullptr && known->life == process_life() ? known->driver : nullptr;
}

std::span<const Error> boards_left_out() noexcept {
  return current_driver() != nullptr
             ? std::span<const Error>(current.load(std::memory_order_acquire)->left_out)
             : std::span<const Error>();
}

Result<Driver*> ensure_driver() {
  if (Driver* driver = current_driver()) {
    return driver;
  }
  const ProcessLock lock;
  if (Driver* driver = current_driver()) {
    return driver;
  }
  const char* wish = std::getenv("DATUM_BOARDS");
  const bool named = wish != nullptr && *wish != '\0';
  if (Status listed = named ? check_board_list(wish) : Status{}; !listed.ok()) {
    return std::move(listed).error();
  }
  const std::vector<std::string> addresses = named ? split_board_addresses(wish) : default_boards();
  if (addresses.empty()) {
    return make_error(
        ErrorCode::uninitialized, "no board is bound to VFIO and none is named in DATUM_BOARDS",
        "'datum doctor' tells what keeps a card from being used; DATUM_BOARDS=rtl takes a simulated board");
  }
  const Result<std::vector<std::string>> visible = visible_boards(addresses, std::getenv(affinity_variable));
  if (!visible.ok()) {
    return visible.error();
  }
  begin_process_life();
  trace::start_if_wanted();
  const std::uint64_t begin_ns = trace::now_ns();
  std::vector<Error> left_out;
  Result<std::unique_ptr<Driver>> opened = open_driver(*visible, named, left_out);
  if (trace::on()) {
    trace::note_span(trace::Kind::span, "open boards", begin_ns, 0, {});
  }
  if (!opened.ok()) {
    return std::move(opened).error();
  }
  auto* fresh = new Current{process_life(), opened->get(), std::move(left_out)};
  current.store(fresh, std::memory_order_release);
  return std::move(*opened).release();
}

}  // namespace datum
