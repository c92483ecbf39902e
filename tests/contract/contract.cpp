// A test of the contract, whatever kind of board it is for.
#include <stdexcept>
#include <utility>

#include "tests/contract/contract_board.hpp"

namespace datum::test {

void Contract::open_with(const std::string& options) {
  driver_.reset();
  function_.reset();
  auto opened = open_board(GetParam(), options);
  if (!opened) {
    throw std::runtime_error(opened.error().message);
  }
  function_ = std::move(opened).value();
}

board::PcieFunction& Contract::function() {
  if (function_ == nullptr) {
    open_with({});
  }
  return *function_;
}

BoardDriver& Contract::driver() {
  if (driver_ == nullptr) {
    driver_ = std::make_unique<BoardDriver>(function());
  }
  return *driver_;
}

}  // namespace datum::test
