#include "tests/rtl/board_bench.hpp"

#include <cstring>
#include <stdexcept>
#include <verilated.h>

#include "Vdatum_board_instrumented.h"
#include "rtl_model/verilated_runtime/verilated_coverage.hpp"

namespace datum::rtl_test {

namespace {

constexpr unsigned access_limit_cycles = 10'000;

template <class Wide>
void put_word(Wide& signal, const BusWord& word) {
  std::memcpy(signal.data(), word.data(), sizeof word);
}

template <class Wide>
BusWord word_of(const Wide& signal) {
  BusWord word;
  std::memcpy(word.data(), signal.data(), sizeof word);
  return word;
}

}  // namespace

struct BoardBench::Lite {
  CData& awvalid;
  CData& awready;
  CData& wstrb;
  CData& wvalid;
  CData& wready;
  CData& bvalid;
  CData& bready;
  CData& arvalid;
  CData& arready;
  CData& rvalid;
  CData& rready;
  IData& wdata;
  IData& rdata;
  std::function<void(std::uint32_t)> set_address;
};

BoardBench::Lite BoardBench::registers() {
  auto& t = *top_;
  return {t.s_axil_bar0_awvalid_i,
          t.s_axil_bar0_awready_o,
          t.s_axil_bar0_wstrb_i,
          t.s_axil_bar0_wvalid_i,
          t.s_axil_bar0_wready_o,
          t.s_axil_bar0_bvalid_o,
          t.s_axil_bar0_bready_i,
          t.s_axil_bar0_arvalid_i,
          t.s_axil_bar0_arready_o,
          t.s_axil_bar0_rvalid_o,
          t.s_axil_bar0_rready_i,
          t.s_axil_bar0_wdata_i,
          t.s_axil_bar0_rdata_o,
          [&t](std::uint32_t offset) {
            t.s_axil_bar0_awaddr_i = offset;
            t.s_axil_bar0_araddr_i = offset;
          }};
}

BoardBench::Lite BoardBench::table() {
  auto& t = *top_;
  return {t.s_axil_bar4_awvalid_i,
          t.s_axil_bar4_awready_o,
          t.s_axil_bar4_wstrb_i,
          t.s_axil_bar4_wvalid_i,
          t.s_axil_bar4_wready_o,
          t.s_axil_bar4_bvalid_o,
          t.s_axil_bar4_bready_i,
          t.s_axil_bar4_arvalid_i,
          t.s_axil_bar4_arready_o,
          t.s_axil_bar4_rvalid_o,
          t.s_axil_bar4_rready_i,
          t.s_axil_bar4_wdata_i,
          t.s_axil_bar4_rdata_o,
          [&t](std::uint32_t offset) {
            t.s_axil_bar4_awaddr_i = static_cast<SData>(offset);
            t.s_axil_bar4_araddr_i = static_cast<SData>(offset);
          }};
}

BoardBench::BoardBench(Straps straps, std::uint32_t seed) : context_(std::make_unique<VerilatedContext>()) {
  context_->randReset(2);
  context_->randSeed(static_cast<int>(seed));
  top_ = std::make_unique<Vdatum_board_instrumented>(context_.get());
  top_->strap_memory_bytes_i = straps.memory_bytes;
  top_->strap_aperture_fixed_bytes_i = straps.aperture_fixed_bytes;
  top_->strap_aperture_window_bytes_i = straps.aperture_window_bytes;
  top_->strap_channels_i = static_cast<CData>(straps.channels);
  top_->strap_memory_clean_i = 1;
  for (auto* valid :
       {&top_->s_axil_bar0_awvalid_i, &top_->s_axil_bar0_wvalid_i, &top_->s_axil_bar0_arvalid_i,
        &top_->s_axil_bar4_awvalid_i, &top_->s_axil_bar4_wvalid_i, &top_->s_axil_bar4_arvalid_i}) {
    *valid = 0;
  }
  for (auto* ready : {&top_->s_axil_bar0_bready_i, &top_->s_axil_bar0_rready_i, &top_->s_axil_bar4_bready_i,
                      &top_->s_axil_bar4_rready_i}) {
    *ready = 1;
  }
  // The DRAM and the host have seen nothing yet: only the clock runs.
  top_->rst_ni = 0;
  for (unsigned i = 0; i < 8; ++i) {
    top_->clk_i = 0;
    top_->eval();
    top_->clk_i = 1;
    top_->eval();
  }
  top_->rst_ni = 1;
}

BoardBench::~BoardBench() {
  top_->final();
  rtl_model::write_coverage_of_bench(*context_);
}

void BoardBench::drive_host() {
  auto& t = *top_;
  host.begin_cycle();
  t.m_axi_host_arready_i = host.read_address_ready();
  t.m_axi_host_awready_i = host.write_address_ready();
  t.m_axi_host_wready_i = host.write_data_ready();
  const auto* data = host.read_data();
  t.m_axi_host_rvalid_i = data != nullptr;
  if (data != nullptr) {
    t.m_axi_host_rid_i = static_cast<SData>(data->id);
    t.m_axi_host_rresp_i = static_cast<CData>(data->response);
    t.m_axi_host_rlast_i = data->last;
    put_word(t.m_axi_host_rdata_i, data->data);
  }
  const auto* answer = host.write_answer();
  t.m_axi_host_bvalid_i = answer != nullptr;
  if (answer != nullptr) {
    t.m_axi_host_bid_i = static_cast<SData>(answer->id);
    t.m_axi_host_bresp_i = static_cast<CData>(answer->response);
  }
}

void BoardBench::sample_host() {
  auto& t = *top_;
  if (t.m_axi_host_rvalid_i && t.m_axi_host_rready_o) {
    host.read_data_taken();
  }
  if (t.m_axi_host_bvalid_i && t.m_axi_host_bready_o) {
    host.write_answer_taken();
  }
  if (t.m_axi_host_arvalid_o && t.m_axi_host_arready_i) {
    host.take_read_address({t.m_axi_host_arid_o, t.m_axi_host_araddr_o, t.m_axi_host_arlen_o + 1U});
  }
  // Data may come with its address, never before it.
  const bool data_taken = t.m_axi_host_wvalid_o && t.m_axi_host_wready_i;
  if (t.m_axi_host_awvalid_o && t.m_axi_host_awready_i) {
    host.take_write_address({t.m_axi_host_awid_o, t.m_axi_host_awaddr_o, t.m_axi_host_awlen_o + 1U});
  }
  if (data_taken) {
    host.take_write_data(word_of(t.m_axi_host_wdata_o), t.m_axi_host_wstrb_o, t.m_axi_host_wlast_o != 0);
  }
  host.end_cycle();
}

void BoardBench::drive_aperture() {
  auto& t = *top_;
  t.s_axi_bar2_arvalid_i = aperture.read_address() != nullptr;
  if (const auto* address = aperture.read_address()) {
    t.s_axi_bar2_arid_i = static_cast<CData>(address->id);
    t.s_axi_bar2_araddr_i = address->address;
    t.s_axi_bar2_arlen_i = static_cast<CData>(address->beats - 1);
  }
  t.s_axi_bar2_awvalid_i = aperture.write_address() != nullptr;
  if (const auto* address = aperture.write_address()) {
    t.s_axi_bar2_awid_i = static_cast<CData>(address->id);
    t.s_axi_bar2_awaddr_i = address->address;
    t.s_axi_bar2_awlen_i = static_cast<CData>(address->beats - 1);
  }
  t.s_axi_bar2_wvalid_i = aperture.write_word() != nullptr;
  if (const auto* word = aperture.write_word()) {
    put_word(t.s_axi_bar2_wdata_i, *word);
    t.s_axi_bar2_wstrb_i = aperture.write_strobe();
    t.s_axi_bar2_wlast_i = aperture.write_last();
  }
  t.s_axi_bar2_rready_i = 1;
  t.s_axi_bar2_bready_i = 1;
}

void BoardBench::sample_aperture() {
  auto& t = *top_;
  if (t.s_axi_bar2_arvalid_i && t.s_axi_bar2_arready_o) {
    aperture.read_address_taken();
  }
  if (t.s_axi_bar2_awvalid_i && t.s_axi_bar2_awready_o) {
    aperture.write_address_taken();
  }
  if (t.s_axi_bar2_wvalid_i && t.s_axi_bar2_wready_o) {
    aperture.write_word_taken();
  }
  if (t.s_axi_bar2_rvalid_o) {
    aperture.read_beat(
        {t.s_axi_bar2_rid_o, word_of(t.s_axi_bar2_rdata_o), t.s_axi_bar2_rresp_o, t.s_axi_bar2_rlast_o != 0});
  }
  if (t.s_axi_bar2_bvalid_o) {
    aperture.write_answer(t.s_axi_bar2_bresp_o);
  }
}

void BoardBench::drive_dram() {
  const auto data = dram.read_data();
  top_->dram_rvalid_i = data.has_value();
  if (data) {
    put_word(top_->dram_rdata_i, data->data);
    top_->dram_rcheck_i = data->check;
  }
}

void BoardBench::sample_dram() {
  auto& t = *top_;
  DramCommands commands;
  commands.activate = t.dram_act_valid_o != 0;
  commands.activate_bank = t.dram_act_bank_o;
  commands.activate_row = t.dram_act_row_o;
  commands.precharge = t.dram_pre_valid_o != 0;
  commands.precharge_all = t.dram_pre_all_o != 0;
  commands.precharge_bank = t.dram_pre_bank_o;
  commands.refresh = t.dram_ref_valid_o != 0;
  commands.column = t.dram_cas_valid_o != 0;
  commands.column_write = t.dram_cas_write_o != 0;
  commands.column_bank = t.dram_cas_bank_o;
  commands.column_address = t.dram_cas_col_o;
  dram.cycle(commands, {word_of(t.dram_wdata_o), t.dram_wcheck_o, t.dram_wlanes_o});
}

void BoardBench::settle() {
  top_->timer_i = timer_ns_.value_or(now_ * 10 / 3);
  drive_host();
  drive_aperture();
  drive_dram();
  top_->clk_i = 0;
  top_->eval();
}

void BoardBench::cycle() {
  settle();
  advance();
}

void BoardBench::advance() {
  sample_host();
  sample_aperture();
  sample_dram();
  top_->clk_i = 1;
  top_->eval();
  context_->timeInc(1);
  ++now_;
}

void BoardBench::run(std::uint64_t cycles) {
  for (std::uint64_t i = 0; i < cycles; ++i) {
    cycle();
  }
}

bool BoardBench::run_until(const std::function<bool()>& condition, std::uint64_t limit) {
  for (std::uint64_t i = 0; i < limit; ++i) {
    if (condition()) {
      return true;
    }
    cycle();
  }
  return condition();
}

bool BoardBench::run_until_quiescent(std::uint64_t limit) {
  return run_until([this] { return quiescent(); }, limit);
}

bool BoardBench::quiescent() const { return top_->quiescent_o != 0; }

bool BoardBench::parked() const { return top_->parked_o != 0; }

void BoardBench::write_lite(const Lite& slave, std::uint32_t offset, std::uint32_t value) {
  slave.set_address(offset);
  slave.wdata = value;
  slave.wstrb = 0xf;
  slave.awvalid = 1;
  slave.wvalid = 1;
  for (unsigned i = 0; i < access_limit_cycles; ++i) {
    settle();
    const bool address_taken = slave.awready != 0;
    const bool data_taken = slave.wready != 0;
    const bool answered = slave.bvalid != 0;
    advance();
    if (address_taken) {
      slave.awvalid = 0;
    }
    if (data_taken) {
      slave.wvalid = 0;
    }
    if (answered) {
      return;
    }
  }
  throw std::runtime_error("a register write is not answered");
}

std::uint32_t BoardBench::read_lite(const Lite& slave, std::uint32_t offset) {
  slave.set_address(offset);
  slave.arvalid = 1;
  for (unsigned i = 0; i < access_limit_cycles; ++i) {
    settle();
    const bool address_taken = slave.arready != 0;
    const bool answered = slave.rvalid != 0;
    const auto data = slave.rdata;
    advance();
    if (address_taken) {
      slave.arvalid = 0;
    }
    if (answered) {
      return data;
    }
  }
  throw std::runtime_error("a register read is not answered");
}

void BoardBench::write32(std::uint32_t offset, std::uint32_t value) {
  write_lite(registers(), offset, value);
}

void BoardBench::write64(std::uint32_t offset, std::uint64_t value) {
  write32(offset, static_cast<std::uint32_t>(value));
  write32(offset + 4, static_cast<std::uint32_t>(value >> 32U));
}

std::uint32_t BoardBench::read32(std::uint32_t offset) { return read_lite(registers(), offset); }

std::uint64_t BoardBench::read64(std::uint32_t offset) {
  const std::uint64_t low = read32(offset);
  return low | (std::uint64_t{read32(offset + 4)} << 32U);
}

void BoardBench::table_write32(std::uint32_t offset, std::uint32_t value) {
  write_lite(table(), offset, value);
}

std::uint32_t BoardBench::table_read32(std::uint32_t offset) { return read_lite(table(), offset); }

}  // namespace datum::rtl_test
