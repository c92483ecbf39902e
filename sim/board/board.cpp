#include "sim/board/board.hpp"

#include <utility>

#include <datum/hw/registers.hpp>

namespace datum::sim {

namespace {

constexpr unsigned vectors = hw::ring_page_block_count + 2;

}  // namespace

Board::Board(const BoardOptions& wanted, DramArray array, UniqueFd any_interrupt, UniqueFd lost_event)
    : options(wanted),
      timebase(wanted.step_locked),
      iommu({wanted.iommu_bits, wanted.max_mappings, wanted.max_locked_bytes}),
      interrupts(vectors, std::move(any_interrupt)),
      host(iommu, interrupts, hash),
      dram(std::move(array)),
      lost_event_(std::move(lost_event)) {
  if (wanted.step_locked) {
    hash.enable();
  }
}

Result<std::unique_ptr<Board>> Board::create(const BoardOptions& options) {
  auto array = DramArray::create(options.memory_bytes);
  if (!array) {
    return std::move(array).error();
  }
  auto any_interrupt = make_eventfd(0);
  if (!any_interrupt) {
    return std::move(any_interrupt).error();
  }
  auto lost_event = make_eventfd(0);
  if (!lost_event) {
    return std::move(lost_event).error();
  }
  std::unique_ptr<Board> board(new Board(options, std::move(array).value(), std::move(any_interrupt).value(),
                                         std::move(lost_event).value()));
  if (!options.transaction_file.empty()) {
    auto log = TransactionLog::create(options.transaction_file);
    if (!log) {
      return std::move(log).error();
    }
    board->hash.log_to(std::move(log).value());
  }
  auto engine = make_engine({board->options, board->dram, board->host, board->timebase, board->hash});
  if (!engine) {
    return std::move(engine).error();
  }
  board->engine = std::move(engine).value();
  board->power_on();
  if (board->is_lost()) {
    return make_error(ErrorCode::device_lost, "the simulated board does not start: " + board->lost());
  }
  return board;
}

Activity Board::run(std::uint64_t cycles) {
  if (is_lost()) {
    return {};
  }
  const auto activity = engine->run(cycles);
  notice_loss();
  return is_lost() ? Activity{} : activity;
}

void Board::power_on() {
  lost_.clear();
  is_lost_.store(false, std::memory_order_release);
  static_cast<void>(drain_eventfd(lost_event_.get()));
  interrupts.clear();
  engine->power_on();
  program_message_table();
  notice_loss();
}

/// What a host's kernel does when a driver asks for its vectors.
void Board::program_message_table() {
  constexpr std::uint32_t entry_bytes = 16;
  for (std::uint32_t vector = 0; vector < vectors; ++vector) {
    const auto entry = vector * entry_bytes;
    engine->write_message_table32(entry, static_cast<std::uint32_t>(message_window_first));
    engine->write_message_table32(entry + 4, 0);
    engine->write_message_table32(entry + 8, vector);
    engine->write_message_table32(entry + 12, 0);
  }
}

void Board::lose(std::string reason) {
  if (is_lost()) {
    return;
  }
  lost_ = std::move(reason);
  is_lost_.store(true, std::memory_order_release);
  signal_eventfd(lost_event_.get());
}

void Board::notice_loss() {
  if (!engine->lost().empty()) {
    lose(engine->lost());
  }
}

}  // namespace datum::sim
