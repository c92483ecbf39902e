#include "rtl_model/bench/dma_bench.hpp"

#include <Vdatum_dma_bench_top.h>
#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <verilated.h>

#include "rtl_model/verilated_runtime/verilated_coverage.hpp"

namespace datum::rtl_bench {
namespace {

constexpr unsigned word_bytes = 64;
constexpr unsigned host_space = 1;
constexpr unsigned onchip_space = 2;
constexpr std::uint64_t address_mask = (std::uint64_t{1} << 52U) - 1;

Place place_of(std::uint64_t bus_address) {
  return {static_cast<Target>(bus_address >> 52U), bus_address & address_mask};
}

bool contains(const std::vector<Place>& places, Place word) {
  return std::any_of(places.begin(), places.end(), [&](const Place& place) {
    return place.target == word.target && place.address / word_bytes == word.address / word_bytes;
  });
}

void set_bit(auto& port, unsigned index, bool value) {
  const auto mask = static_cast<std::remove_reference_t<decltype(port)>>(1U << index);
  port = static_cast<std::remove_reference_t<decltype(port)>>(value ? port | mask : port & ~mask);
}

bool get_bit(auto port, unsigned index) { return ((port >> index) & 1U) != 0; }

}  // namespace

DmaBench::DmaBench(const Surroundings& surroundings)
    : surroundings_(surroundings),
      context_(std::make_unique<VerilatedContext>()),
      random_(surroundings.seed) {
  context_->randReset(2);
  context_->randSeed(static_cast<int>(surroundings.seed & 0x7fffffffU));
  context_->assertOn(true);
  model_ = std::make_unique<Vdatum_dma_bench_top>(context_.get());
  model_->channel_enable_i = channels;
  model_->park_recheck_ns_i = 1000000;
  model_->kick_all_i = 0;
  model_->reg_valid_i = 0;
  model_->drain_req_i = 0;
  reset();
}

DmaBench::~DmaBench() {
  model_->final();
  rtl_model::write_coverage_of_bench(*context_);
}

void DmaBench::reset() {
  for (Port& port : ports_) {
    port = {};
  }
  for (auto& waiting : questions_waiting_) {
    waiting.clear();
  }
  model_->rst_ni = 0;
  run(3);
  model_->rst_ni = 1;
  step();
}

void DmaBench::check(bool good, const std::string& what) const {
  if (!good) {
    throw std::runtime_error("cycle " + std::to_string(cycle_) + ": " + what);
  }
}

bool DmaBench::chance() {
  return surroundings_.stall_percent != 0 && random_() % 100 < surroundings_.stall_percent;
}

void DmaBench::step() {
  model_->timer_i = timer_ns_;
  model_->cycles_i = cycle_;
  for (unsigned m = 0; m < managers; ++m) {
    drive_port(m);
  }
  drive_translators();
  model_->irq_ready_i = !refuse_interrupts_ && !chance();
  model_->clk_i = 0;
  model_->eval();
  if (model_->rst_ni != 0) {
    for (unsigned m = 0; m < managers; ++m) {
      sample_port(m);
    }
    sample_translators();
    sample_events();
  }
  model_->clk_i = 1;
  model_->eval();
  context_->timeInc(1);
  ++cycle_;
  timer_ns_ = timer_ns_ + (cycle_ % 3 == 0 ? 4 : 3);
}

void DmaBench::run(std::uint64_t cycles) {
  for (std::uint64_t i = 0; i < cycles; ++i) {
    step();
  }
}

void DmaBench::run_until(const std::function<bool()>& done, std::uint64_t limit) {
  const std::uint64_t end = cycle_ + limit;
  while (!done()) {
    check(cycle_ < end, "waited too long");
    step();
  }
}

void DmaBench::run_until_quiescent(std::uint64_t limit) {
  step();
  run_until([this] { return quiescent(); }, limit);
}

// ---- AXI

void DmaBench::drive_port(unsigned m) {
  Port& port = ports_[m];
  // An offer, once made, stands.
  if (!port.r_valid && !port.reads.empty() && port.reads.front().ready_at <= cycle_ && !hold_ && !chance()) {
    port.r_valid = true;
    const ReadBurst& burst = port.reads.front();
    const Place word{burst.place.target, burst.place.address + std::uint64_t{burst.done} * word_bytes};
    memory_.read(word, {reinterpret_cast<std::uint8_t*>(&model_->rdata_i[m]), word_bytes});
    model_->rid_i[m] = static_cast<std::uint8_t>(burst.id);
    model_->rresp_i[m] = contains(bad_reads_, word) ? 2 : 0;
    set_bit(model_->rlast_i, m, burst.done + 1 == burst.beats);
  }
  if (!port.b_valid && !port.answering.empty() && port.answering.front().ready_at <= cycle_ && !hold_ &&
      !chance()) {
    port.b_valid = true;
    // Data is visible at the last moment at which it may become so.
    const WriteBurst& burst = port.answering.front();
    bool bad = false;
    for (unsigned i = 0; i < burst.beats; ++i) {
      const Place word{burst.place.target, burst.place.address + std::uint64_t{i} * word_bytes};
      if (contains(bad_writes_, word)) {
        bad = true;
      } else {
        memory_.write_word(word, burst.data[i].first.data(), burst.data[i].second);
      }
    }
    model_->bid_i[m] = static_cast<std::uint8_t>(burst.id);
    model_->bresp_i[m] = bad ? 2 : 0;
  }
  set_bit(model_->rvalid_i, m, port.r_valid);
  set_bit(model_->bvalid_i, m, port.b_valid);
  port.ar_ready = !chance();
  port.aw_ready = !chance();
  port.w_ready = !chance();
  set_bit(model_->arready_i, m, port.ar_ready);
  set_bit(model_->awready_i, m, port.aw_ready);
  set_bit(model_->wready_i, m, port.w_ready);
}

void DmaBench::sample_addresses(unsigned m, Port& port) {
  if (get_bit(model_->arvalid_o, m) && port.ar_ready) {
    ReadBurst burst{model_->arid_o[m], place_of(model_->araddr_o[m]), model_->arlen_o[m] + 1U, 0,
                    cycle_ + surroundings_.read_latency_cycles};
    check(burst.place.address % word_bytes == 0, "read address is not aligned");
    check(burst.place.address % 4096 + std::uint64_t{burst.beats} * word_bytes <= 4096, "read crosses 4 KiB");
    check(m == channels || port.reads.empty() || port.reads.back().place.target == burst.place.target,
          "reads of two targets outstanding");
    bursts_.push_back({m, false, burst.place, burst.beats, cycle_});
    port.reads.push_back(burst);
  }
  if (get_bit(model_->awvalid_o, m) && port.aw_ready) {
    WriteBurst burst{model_->awid_o[m], place_of(model_->awaddr_o[m]), model_->awlen_o[m] + 1U, {}, 0};
    check(burst.place.address % word_bytes == 0, "write address is not aligned");
    check(burst.place.address % 4096 + std::uint64_t{burst.beats} * word_bytes <= 4096,
          "write crosses 4 KiB");
    bursts_.push_back({m, true, burst.place, burst.beats, cycle_});
    port.collecting.push_back(std::move(burst));
  }
}

void DmaBench::sample_data(unsigned m, Port& port) {
  if (get_bit(model_->wvalid_o, m) && port.w_ready) {
    check(!port.collecting.empty(), "write data before its address");
    WriteBurst& burst = port.collecting.front();
    std::array<std::uint8_t, word_bytes> data{};
    std::memcpy(data.data(), &model_->wdata_o[m], word_bytes);
    burst.data.emplace_back(data, model_->wstrb_o[m]);
    const bool last = burst.data.size() == burst.beats;
    check(get_bit(model_->wlast_o, m) == last, "wlast at the wrong beat");
    if (last) {
      burst.ready_at = cycle_ + surroundings_.write_latency_cycles;
      port.answering.push_back(std::move(burst));
      port.collecting.pop_front();
    }
  }
}

void DmaBench::sample_port(unsigned m) {
  Port& port = ports_[m];
  if (port.r_valid && get_bit(model_->rready_o, m)) {
    port.r_valid = false;
    if (m == channels) {
      last_descriptor_arrival_ = cycle_;
    }
    if (++port.reads.front().done == port.reads.front().beats) {
      port.reads.pop_front();
    }
  }
  if (port.b_valid && get_bit(model_->bready_o, m)) {
    port.b_valid = false;
    port.answering.pop_front();
    if (m != channels) {
      last_data_answer_ = cycle_;
    }
  }
  sample_addresses(m, port);
  sample_data(m, port);
}

std::uint64_t DmaBench::outstanding() const {
  std::uint64_t count = 0;
  for (const Port& port : ports_) {
    count += port.reads.size() + port.collecting.size() + port.answering.size();
  }
  return count;
}

// ---- translation

Mapping DmaBench::translate(const Question& question) const {
  Mapping mapping{Target::dram, question.page, true, hw::FaultReason::none};
  if (question.space == host_space) {
    mapping.target = Target::host;
  } else if (question.space == onchip_space) {
    mapping.target = Target::onchip;
  }
  if (const auto found = mappings_.find({question.space, question.page}); found != mappings_.end()) {
    mapping = found->second;
  }
  if (question.write && !mapping.writable && mapping.reason == hw::FaultReason::none) {
    mapping.reason = hw::FaultReason::write_refused;
  }
  return mapping;
}

void DmaBench::drive_translators() {
  for (unsigned t = 0; t < translators; ++t) {
    auto& waiting = questions_waiting_[t];
    const bool answer = !waiting.empty() && waiting.front().ready_at <= cycle_ && !chance();
    set_bit(model_->tr_rsp_valid_i, t, answer);
    if (answer) {
      const Mapping mapping = waiting.front().answer;
      waiting.pop_front();
      model_->tr_rsp_target_i[t] = static_cast<std::uint8_t>(mapping.target);
      model_->tr_rsp_frame_i[t] = mapping.frame;
      model_->tr_rsp_reason_i[t] = static_cast<std::uint8_t>(mapping.reason);
    }
    set_bit(model_->tr_req_ready_i, t, !chance());
  }
}

void DmaBench::sample_translators() {
  for (unsigned t = 0; t < translators; ++t) {
    if (get_bit(model_->tr_req_valid_o, t) && get_bit(model_->tr_req_ready_i, t)) {
      check(get_bit(model_->tr_req_write_o, t) == (t % 2 == 1), "question of the wrong kind");
      Question question{model_->tr_req_space_o[t],
                        model_->tr_req_page_o[t],
                        t % 2 == 1,
                        cycle_ + surroundings_.translate_cycles,
                        {}};
      question.answer = translate(question);
      questions_waiting_[t].push_back(question);
      ++questions_;
    }
  }
}

// ---- the rest

void DmaBench::sample_events() {
  if (model_->irq_valid_o != 0 && model_->irq_ready_i != 0) {
    interrupts_.push_back(model_->irq_vector_o);
  }
  if (model_->fault_valid_o != 0) {
    faults_.push_back({model_->fault_ring_o, static_cast<hw::Status>(model_->fault_status_o),
                       static_cast<hw::FaultReason>(model_->fault_reason_o), model_->fault_write_o != 0,
                       model_->fault_space_o, model_->fault_address_o, model_->fault_sequence_o});
  }
  descriptors_done_ += model_->descriptor_done_o;
}

std::uint32_t DmaBench::access_register(bool write, std::uint32_t bar0_offset, std::uint32_t value) {
  const bool page = bar0_offset >= hw::ring_page_block_base;
  const std::uint32_t inside = bar0_offset - (page ? hw::ring_page_block_base : hw::ring_config_block_base);
  const std::uint32_t stride = page ? hw::ring_page_block_stride_bytes : hw::ring_config_block_stride_bytes;
  model_->reg_valid_i = 1;
  model_->reg_write_i = write;
  model_->reg_page_i = page;
  model_->reg_ring_i = static_cast<std::uint8_t>(inside / stride);
  model_->reg_offset_i = static_cast<std::uint8_t>(inside % stride);
  model_->reg_wdata_i = value;
  model_->eval();
  while (model_->reg_ready_o == 0) {
    step();
  }
  step();
  model_->reg_valid_i = 0;
  for (unsigned waited = 0; model_->reg_rvalid_o == 0; ++waited) {
    check(waited < 100, "a register access was not answered");
    step();
  }
  return model_->reg_rdata_o;
}

void DmaBench::write_register(std::uint32_t bar0_offset, std::uint32_t value) {
  access_register(true, bar0_offset, value);
}

std::uint32_t DmaBench::read_register(std::uint32_t bar0_offset) {
  return access_register(false, bar0_offset, 0);
}

void DmaBench::write_register64(std::uint32_t bar0_offset, std::uint64_t value) {
  write_register(bar0_offset, static_cast<std::uint32_t>(value));
  write_register(bar0_offset + 4, static_cast<std::uint32_t>(value >> 32U));
}

void DmaBench::kick_all() {
  model_->kick_all_i = 1;
  step();
  model_->kick_all_i = 0;
}

void DmaBench::set_drain(bool on) { model_->drain_req_i = on; }

void DmaBench::invalidate() {
  set_drain(true);
  run_until([this] { return drained(); });
  set_drain(false);
  step();
}

bool DmaBench::drained() const { return model_->drain_ack_o != 0; }

bool DmaBench::quiescent() const { return model_->quiescent_o != 0; }

bool DmaBench::parked() const { return model_->parked_o != 0; }

void DmaBench::set_channels(unsigned count) { model_->channel_enable_i = static_cast<std::uint8_t>(count); }

void DmaBench::set_park_recheck_ns(std::uint32_t ns) { model_->park_recheck_ns_i = ns; }

void DmaBench::forget_history() {
  interrupts_.clear();
  faults_.clear();
  bursts_.clear();
}

}  // namespace datum::rtl_bench
