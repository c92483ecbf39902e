// The host's side of one AXI4-Lite port: single register accesses of 32 bits.
#pragma once

#include <cstdint>
#include <functional>
#include <verilated.h>

namespace datum::sim {

/// `Address` is Verilator's type for the port's address.
template <class Address>
class AxilMaster {
 public:
  struct Pins {
    Address& awaddr;
    CData& awvalid;
    CData& awready;
    IData& wdata;
    CData& wstrb;
    CData& wvalid;
    CData& wready;
    CData& bvalid;
    CData& bready;
    Address& araddr;
    CData& arvalid;
    CData& arready;
    IData& rdata;
    CData& rvalid;
    CData& rready;
  };

  explicit AxilMaster(const Pins& pins) noexcept : pins_(pins) {}

  void idle() noexcept { pins_.awvalid = pins_.wvalid = pins_.bready = pins_.arvalid = pins_.rready = 0; }

  void begin_read(std::uint32_t offset) noexcept {
    pins_.araddr = static_cast<Address>(offset);
    pins_.arvalid = 1;
    pins_.rready = 1;
    done_ = false;
  }

  void begin_write(std::uint32_t offset, std::uint32_t value) noexcept {
    pins_.awaddr = static_cast<Address>(offset);
    pins_.awvalid = 1;
    pins_.wdata = value;
    pins_.wstrb = 0xf;
    pins_.wvalid = 1;
    pins_.bready = 1;
    done_ = false;
  }

  /// With settled ports, before the clock edge: which transfers will take place.
  void sample() noexcept {
    aw_ = pins_.awvalid != 0 && pins_.awready != 0;
    w_ = pins_.wvalid != 0 && pins_.wready != 0;
    ar_ = pins_.arvalid != 0 && pins_.arready != 0;
    const bool b = pins_.bvalid != 0 && pins_.bready != 0;
    const bool r = pins_.rvalid != 0 && pins_.rready != 0;
    if (r) {
      data_ = pins_.rdata;
    }
    answered_ = b || r;
  }

  /// After the edge.
  void advance() noexcept {
    if (aw_) {
      pins_.awvalid = 0;
    }
    if (w_) {
      pins_.wvalid = 0;
    }
    if (ar_) {
      pins_.arvalid = 0;
    }
    if (answered_) {
      pins_.bready = pins_.rready = 0;
      done_ = true;
    }
    aw_ = w_ = ar_ = answered_ = false;
  }

  [[nodiscard]] bool done() const noexcept { return done_; }

  [[nodiscard]] std::uint32_t data() const noexcept { return data_; }

 private:
  Pins pins_;
  bool done_ = true;
  bool aw_ = false;
  bool w_ = false;
  bool ar_ = false;
  bool answered_ = false;
  std::uint32_t data_ = 0;
};

}  // namespace datum::sim
