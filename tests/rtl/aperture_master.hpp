// A master for BAR2 that keeps many bursts under way, for figures and for tests of order.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "tests/rtl/host_bus.hpp"

namespace datum::rtl_test {

class ApertureMaster {
 public:
  struct Write {
    BusAddress address;
    std::vector<BusWord> data;
    std::uint64_t strobe = ~std::uint64_t{0};
  };

  void read(std::uint64_t address, unsigned count, std::uint32_t id = 0) {
    read_addresses_.push_back({id, address, count});
  }

  void write(std::uint64_t address, std::vector<BusWord> data, std::uint64_t strobe = ~std::uint64_t{0},
             std::uint32_t id = 0) {
    const BusAddress where{id, address, static_cast<unsigned>(data.size())};
    write_addresses_.push_back(where);
    write_data_.push_back({where, std::move(data), strobe});
  }

  [[nodiscard]] bool busy() const noexcept {
    return !read_addresses_.empty() || !write_addresses_.empty() || !write_data_.empty() || reads_open != 0 ||
           writes_open != 0;
  }

  std::vector<BusAnswer> beats;         // read data as it came
  std::vector<unsigned> write_answers;  // responses as they came

  // For the bench, once a cycle.
  [[nodiscard]] const BusAddress* read_address() const {
    return read_addresses_.empty() ? nullptr : &read_addresses_.front();
  }

  [[nodiscard]] const BusAddress* write_address() const {
    return write_addresses_.empty() ? nullptr : &write_addresses_.front();
  }

  [[nodiscard]] const BusWord* write_word() const {
    return write_data_.empty() ? nullptr : &write_data_.front().data.at(next_beat_);
  }

  [[nodiscard]] bool write_last() const { return next_beat_ + 1 == write_data_.front().data.size(); }

  [[nodiscard]] std::uint64_t write_strobe() const { return write_data_.front().strobe; }

  void read_address_taken() {
    read_addresses_.pop_front();
    ++reads_open;
  }

  void write_address_taken() {
    write_addresses_.pop_front();
    ++writes_open;
  }

  void write_word_taken() {
    if (write_last()) {
      write_data_.pop_front();
      next_beat_ = 0;
    } else {
      ++next_beat_;
    }
  }

  void read_beat(const BusAnswer& beat) {
    beats.push_back(beat);
    reads_open -= beat.last ? 1 : 0;
  }

  void write_answer(unsigned response) {
    write_answers.push_back(response);
    --writes_open;
  }

  unsigned reads_open = 0;
  unsigned writes_open = 0;

 private:
  std::deque<BusAddress> read_addresses_;
  std::deque<BusAddress> write_addresses_;
  std::deque<Write> write_data_;
  std::size_t next_beat_ = 0;
};

}  // namespace datum::rtl_test
