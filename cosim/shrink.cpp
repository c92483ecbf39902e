#include "cosim/shrink.hpp"

#include <algorithm>
#include <utility>

namespace datum::cosim {

namespace {

Program beginning_of(const Program& program, std::size_t count) {
  Program shorter = program;
  shorter.operations.resize(count);
  return shorter;
}

/// Without operation `gone`: waits for it go, too, and the list that it began begins with the next one.
Program without(const Program& program, unsigned gone) {
  Program shorter = program;
  auto& operations = shorter.operations;
  const Operation taken = operations[gone];
  operations.erase(operations.begin() + gone);
  bool begins = taken.starts_list;
  for (unsigned index = gone; index < operations.size(); ++index) {
    Operation& operation = operations[index];
    std::erase(operation.waits, gone);
    for (unsigned& earlier : operation.waits) {
      earlier -= earlier > gone ? 1 : 0;
    }
    if (begins && operation.queue == taken.queue) {
      operation.starts_list = true;
      begins = false;
    }
  }
  return shorter;
}

bool is_awaited(const Program& program, unsigned index) {
  return std::any_of(program.operations.begin(), program.operations.end(), [&](const Operation& operation) {
    return std::find(operation.waits.begin(), operation.waits.end(), index) != operation.waits.end();
  });
}

/// Takes a property of operation `index` away, if the rest still fails.
void drop(Program& program, unsigned index, bool Operation::*property, const Fails& fails) {
  if (program.operations[index].*property) {
    Program next = program;
    next.operations[index].*property = false;
    if (is_ordered(next) && fails(next)) {
      program = std::move(next);
    }
  }
}

}  // namespace

unsigned shortest_beginning(const Program& program, const Fails& fails) {
  const auto whole = static_cast<unsigned>(program.operations.size());
  for (unsigned count = 1; count < whole; ++count) {
    if (fails(beginning_of(program, count))) {
      return count;
    }
  }
  return whole;
}

Program shrink(const Program& program, const Fails& fails) {
  Program least = beginning_of(program, shortest_beginning(program, fails));
  for (bool shorter = true; shorter;) {
    shorter = false;
    for (unsigned index = static_cast<unsigned>(least.operations.size()); index-- > 0;) {
      Program next = without(least, index);
      if (!next.operations.empty() && is_ordered(next) && fails(next)) {
        least = std::move(next);
        shorter = true;
      }
    }
  }
  for (unsigned index = 0; index < least.operations.size(); ++index) {
    drop(least, index, &Operation::gated, fails);
    drop(least, index, &Operation::barrier_before, fails);
    if (!is_awaited(least, index)) {
      drop(least, index, &Operation::signals, fails);
    }
  }
  return least;
}

}  // namespace datum::cosim
