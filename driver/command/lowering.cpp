#include "driver/command/lowering.hpp"

#include <algorithm>

#include "driver/command/counter.hpp"
#include "driver/command/event.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/device/limits.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum {

namespace {

constexpr std::uint8_t eight_bytes = 3;

Error dead_event() {
  return make_error(ErrorCode::invalid_synchronization_object,
                    "an event that the command list names was destroyed",
                    "reset the list and record it anew");
}

}  // namespace

Lowering::Lowering(Device& device, const std::shared_ptr<Stream>& stream, Submission& submission)
    : device_(device), stream_(stream), submission_(submission) {}

Status Lowering::lower(const RecordedCommands& recorded, const Command& command, bool in_order) {
  Event* signal = nullptr;
  if (!command.signal.none()) {
    signal = command.signal.get();
    if (signal == nullptr) {
      return dead_event();
    }
  }
  fence_next_ = in_order;
  const std::size_t keeps_before = submission_.keeps.size();
  for (const EventReference& reference : recorded.waits_of(command)) {
    if (Status waited = wait_for(reference); !waited) {
      return waited;
    }
  }
  const bool timed = signal != nullptr && signal->has_timestamps();
  if (timed) {
    signal->set_timed_by(device_);
    timestamp(device_va(&signal->slot().start_ns), signal);
    fence_next_ = true;  // the time is taken before the command begins
  }
  Status lowered = std::visit([&](const auto& body) { return body.lower(*this); }, command.body);
  for (std::size_t index = keeps_before; index < submission_.keeps.size(); ++index) {
    submission_.keeps[index].items = submission_.items.size();
  }
  if (!lowered) {
    return lowered;
  }
  if (signal != nullptr) {
    if (timed) {
      timestamp(device_va(&signal->slot().end_ns), signal);
    }
    if (signal->counter_based()) {
      return signal_point(*signal);
    }
    write_word(device_va(&signal->slot().state), event_word::signalled, signal, true);
  }
  return {};
}

Status Lowering::commit() {
  if (Status own = context().space(device_).commit(); !own) {
    return own;
  }
  for (AddressSpace* space : foreign_spaces_) {
    if (Status foreign = space->commit(); !foreign) {
      return foreign;
    }
  }
  return {};
}

Result<Lowering::Reach> Lowering::reach(Context& of, const void* pointer, std::uint64_t bytes,
                                        board::DmaAccess access) {
  Result<Pin> pin = of.make_accessible(device_, pointer, bytes, access);
  if (!pin && pin.error().code == ErrorCode::out_of_host_memory) {
    // What was freed may still wait for the board's word, and count against the limit until then.
    static_cast<void>(device_.drain_quarantine());
    pin = of.make_accessible(device_, pointer, bytes, access);
  }
  if (!pin) {
    if (pin.error().code != ErrorCode::out_of_host_memory) {
      return std::move(pin).error();
    }
    if (Result<HostSteps*> staging = steps(); !staging) {
      return std::move(staging).error();
    }
    return Reach{false, space()};
  }
  if (!pin->empty()) {
    submission_.keeps.push_back({0, {std::move(*pin), nullptr}});
  }
  AddressSpace& address_space = of.space(device_);
  if (&of != &context() &&
      std::find(foreign_spaces_.begin(), foreign_spaces_.end(), &address_space) == foreign_spaces_.end()) {
    foreign_spaces_.push_back(&address_space);
  }
  return Reach{true, address_space.number()};
}

void Lowering::emit(hw::Descriptor& descriptor, Event* event, bool signals) {
  if (fence_next_) {
    descriptor.set_flag_fence(true);
    fence_next_ = false;
  }
  if (event != nullptr) {
    event->retain();
  }
  submission_.items.push_back({descriptor, event, signals});
}

void Lowering::copy(unsigned dst_space, DeviceVa dst, unsigned src_space, DeviceVa src, std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t piece = std::min(bytes - done, limits::copy_piece_bytes);
    hw::Descriptor descriptor;
    descriptor.set_opcode(hw::Opcode::copy)
        .set_src_space(static_cast<std::uint16_t>(src_space))
        .set_dst_space(static_cast<std::uint16_t>(dst_space))
        .set_src_address(raw(src) + done)
        .set_dst_address(raw(dst) + done)
        .set_bytes(piece);
    emit(descriptor);
    done += piece;
  }
}

void Lowering::copy_region(unsigned dst_space, DeviceVa dst, const Pitches& dst_pitches, unsigned src_space,
                           DeviceVa src, const Pitches& src_pitches, const RegionShape& shape) {
  hw::Descriptor descriptor;
  descriptor.set_opcode(hw::Opcode::copy_region)
      .set_src_space(static_cast<std::uint16_t>(src_space))
      .set_dst_space(static_cast<std::uint16_t>(dst_space))
      .set_src_address(raw(src))
      .set_dst_address(raw(dst))
      .set_region_x_bytes(static_cast<std::uint32_t>(shape.row_bytes))
      .set_region_rows(static_cast<std::uint32_t>(shape.rows))
      .set_region_planes(static_cast<std::uint32_t>(shape.planes))
      .set_src_row_pitch(static_cast<std::uint32_t>(src_pitches.row))
      .set_dst_row_pitch(static_cast<std::uint32_t>(dst_pitches.row))
      .set_src_slice_pitch(static_cast<std::uint32_t>(src_pitches.plane))
      .set_dst_slice_pitch(static_cast<std::uint32_t>(dst_pitches.plane));
  emit(descriptor);
}

void Lowering::fill(DeviceVa dst, std::uint64_t bytes, const std::array<std::uint64_t, 2>& pattern,
                    std::uint8_t pattern_log2) {
  if (bytes == 0) {
    return;
  }
  hw::Descriptor descriptor;
  descriptor.set_opcode(hw::Opcode::fill)
      .set_size_code(pattern_log2)
      .set_dst_space(static_cast<std::uint16_t>(space()))
      .set_pattern_low(pattern[0])
      .set_pattern_high(pattern[1])
      .set_dst_address(raw(dst))
      .set_bytes(bytes);
  emit(descriptor);
}

void Lowering::timestamp(DeviceVa dst, Event* event) {
  hw::Descriptor descriptor;
  descriptor.set_opcode(hw::Opcode::timestamp)
      .set_size_code(eight_bytes)
      .set_dst_space(static_cast<std::uint16_t>(space()))
      .set_dst_address(raw(dst));
  emit(descriptor, event);
}

void Lowering::barrier() {
  hw::Descriptor descriptor;
  descriptor.set_opcode(hw::Opcode::barrier);
  emit(descriptor);
}

void Lowering::write_word(DeviceVa word, std::uint64_t value, Event* event, bool signals) {
  hw::Descriptor descriptor;
  descriptor.set_opcode(hw::Opcode::write_value)
      .set_size_code(eight_bytes)
      .set_dst_space(static_cast<std::uint16_t>(space()))
      .set_value(value)
      .set_dst_address(raw(word));
  // Somebody may sleep until the event is signalled.
  descriptor.set_flag_complete(signals).set_flag_interrupt(signals);
  emit(descriptor, event, signals);
}

void Lowering::copy_from_event(DeviceVa dst, Event& event, const std::uint64_t& first_word,
                               std::uint64_t bytes) {
  hw::Descriptor descriptor;
  descriptor.set_opcode(hw::Opcode::copy)
      .set_src_space(static_cast<std::uint16_t>(space()))
      .set_dst_space(static_cast<std::uint16_t>(space()))
      .set_src_address(raw(device_va(&first_word)))
      .set_dst_address(raw(dst))
      .set_bytes(bytes);
  emit(descriptor, &event);
}

Status Lowering::wait_for(const EventReference& reference) {
  if (reference.none()) {
    return {};
  }
  Event* event = reference.get();
  if (event == nullptr) {
    return dead_event();
  }
  if (event->counter_based()) {
    wait_for_point(*event);
    return {};
  }
  wait_word(device_va(&event->slot().state), hw::WaitCondition::equal, event_word::signalled,
            event_word::signalled_mask, event);
  return {};
}

/// What an event follows may change at any time: the descriptor holds the counter as it is now.
void Lowering::wait_for_point(Event& event) {
  const auto own = std::find_if(submission_.points.rbegin(), submission_.points.rend(),
                                [&](const SubmittedPoint& point) { return point.event == &event; });
  CounterPoint point;
  if (own != submission_.points.rend()) {
    point = {counters_[static_cast<std::size_t>(own->reach)], own->value};
  } else {
    point = event.point();
    if (point.state() == event_word::signalled) {
      return;
    }
  }
  wait_word(point.counter->address(), hw::WaitCondition::greater_equal, point.value, ~event_word::error_mask,
            nullptr);
  submission_.keeps.push_back({0, {Pin{}, std::move(point.counter)}});
}

Status Lowering::signal_point(Event& event) {
  const CounterReach reach = event.counter_reach();
  std::shared_ptr<Counter>& counter = counters_[static_cast<std::size_t>(reach)];
  std::uint64_t& given_out = given_out_[static_cast<std::size_t>(reach)];
  if (counter == nullptr) {
    Result<std::shared_ptr<Counter>> made = device_.rings().counter(*stream_, reach);
    if (!made) {
      return std::move(made).error();
    }
    counter = std::move(*made);
    given_out = counter->given_out();
  }
  event.retain();
  submission_.points.push_back({&event, reach, ++given_out});
  write_word(counter->address(), given_out, &event, true);
  return {};
}

void Lowering::wait_word(DeviceVa word, hw::WaitCondition condition, std::uint64_t value, std::uint64_t mask,
                         Event* event) {
  hw::Descriptor descriptor;
  descriptor.set_opcode(hw::Opcode::wait_value)
      .set_wait_condition(condition)
      .set_dst_space(static_cast<std::uint16_t>(space()))
      .set_value(value)
      .set_dst_address(raw(word))
      .set_wait_mask(mask)
      .set_wait_error_mask(event_word::error_mask);
  emit(descriptor, event);
}

Result<HostSteps*> Lowering::steps(bool staging) {
  if (steps_ == nullptr) {
    Result<HostSteps*> made = device_.rings().host_steps(*stream_);
    if (!made) {
      return made;
    }
    steps_ = *made;
  }
  if (staging) {
    if (Status made = steps_->need_staging(); !made) {
      return std::move(made).error();
    }
  }
  return steps_;
}

void Lowering::host_step(const HostStep& step) {
  const std::uint64_t number = steps_->next_number() + submission_.steps.size();
  submission_.steps.push_back(step);
  hw::Descriptor request;
  request.set_opcode(hw::Opcode::write_value)
      .set_size_code(eight_bytes)
      .set_dst_space(static_cast<std::uint16_t>(space()))
      .set_value(number)
      .set_dst_address(raw(device_va(steps_->request_word())))
      .set_flag_complete(true)
      .set_flag_interrupt(true);
  emit(request);
  wait_word(device_va(steps_->answer_word()), hw::WaitCondition::greater_equal, number,
            ~event_word::error_mask, nullptr);
}

}  // namespace datum
