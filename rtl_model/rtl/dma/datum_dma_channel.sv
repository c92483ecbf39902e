// A channel: serves one ring at a time. It fetches the ring's descriptors ahead, begins them in order, and reports them in order.
module datum_dma_channel
  import datum_pkg::*;
  import datum_reg_pkg::*;
  import datum_dma_pkg::*;
#(
  parameter int unsigned ReadBufferBeats   = 512,
  parameter int unsigned OutstandingReads  = 128,
  parameter int unsigned OutstandingWrites = 128,
  parameter int unsigned PrefetchDepth     = 128,
  parameter int unsigned QuantumBytes      = 65536,   // after so much, times its weight, a ring makes way for one that waits
  parameter int unsigned QuantumCount      = 64       // or after so many descriptors, times its weight
) (
  input  logic                  clk_i,
  input  logic                  rst_ni,
  input  logic [63:0]           timer_i,
  input  logic                  drain_i,
  output logic                  idle_o,             // none of its translated accesses is outstanding

  // Binding to a ring.
  output logic                  free_o,
  input  logic                  bind_i,
  input  binding_t              binding_i,
  input  logic                  midway_i,           // a descriptor of the ring is suspended:
  input  suspended_t            resumed_i,
  input  logic                  others_wait_i,      // rings are ready and no channel is free
  input  logic                  enabled_i,          // the channel may be used
  input  logic                  faulted_i,          // its ring failed
  input  logic                  stopping_i,         // its ring was disabled
  input  doorbell_t             doorbell_i,
  output logic [RingWidth-1:0]  ring_o,
  output logic [31:0]           head_o,
  output logic                  resumed_o,
  output logic                  release_valid_o,
  output release_t              release_o,
  input  logic                  release_ready_i,

  // Descriptors.
  output logic                  fetch_valid_o,
  output logic [PaWidth-1:0]    fetch_address_o,
  output logic [3:0]            fetch_len_o,
  input  logic                  fetch_ready_i,
  input  logic                  fetched_i,
  input  logic [511:0]          fetched_data_i,
  input  logic                  fetched_bad_i,

  output logic                  record_valid_o,
  output record_t               record_o,
  input  logic                  record_ready_i,
  output logic                  retired_o,
  output logic                  executing_o,        // a descriptor has begun and not ended; a wait begins when it holds

  output landed_t               landed_o,
  input  logic                  landed_hit_i,       // a write was answered that may have been to watch_o
  output watch_t                watch_o,

  output logic [1:0]            tr_req_valid_o,     // reads, writes
  output translate_req_t [1:0]  tr_req_o,
  input  logic [1:0]            tr_req_ready_i,
  input  logic [1:0]            tr_rsp_valid_i,
  input  translate_rsp_t [1:0]  tr_rsp_i,

  output logic                  arvalid_o,
  output axi_ax_t               ar_o,
  input  logic                  arready_i,
  input  logic                  rvalid_i,
  input  axi_r_t                r_i,
  output logic                  rready_o,
  output logic                  awvalid_o,
  output axi_ax_t               aw_o,
  input  logic                  awready_i,
  output logic                  wvalid_o,
  output axi_w_t                w_o,
  input  logic                  wready_i,
  input  logic                  bvalid_i,
  input  axi_b_t                b_i,
  output logic                  bready_o
);
  typedef enum logic [2:0] {
    Free,
    Run,
    Fail,       // the failure is known and everything was answered: its record is to be handed over
    Stop,       // the ring was disabled or failed elsewhere: outstanding accesses are waited for
    Leave,      // nothing more is begun; when all is answered the ring is given back
    Release     // only the ring file has to take it
  } state_e;

  state_e       state_q;
  binding_t     ring_q;         // `head`: the next descriptor to begin; `tail`: as of the last doorbell
  logic         park_q;
  logic         midway_q;       // `suspended_q` is to be gone on with before anything else begins
  suspended_t   suspended_q;
  logic [31:0]  size;
  assign size = 32'd1 << ring_q.size_log2[4:0];

  logic mover_idle, reader_idle, writer_idle, flush, forget;
  logic halted, yield, spent;
  assign halted = faulted_i || stopping_i;
  assign yield  = (others_wait_i && spent) || !enabled_i;

  // ---- fetching -------------------------------------------------------------------------------------------------------

  localparam int unsigned HeldWidth = $clog2(PrefetchDepth) + 1;
  logic [31:0]            fetch_index_q, unfetched, slot_in_ring;
  logic [HeldWidth-1:0]   held_q, in_flight_q;  // descriptors asked for and not begun; those of them that have not come
  logic [4:0]             fetch_count, to_boundary, in_block, room;
  logic                   queue_ready, queue_valid, queue_pop, queue_clear, bad;
  logic [511:0]           descriptor;
  logic                   impossible_q;         // TAIL is further from HEAD than the ring is long, or the ring is too long
  logic                   unreachable;

  assign unreachable  = ring_q.base[63:PaWidth] != '0;
  assign unfetched    = ring_q.tail - fetch_index_q;
  assign slot_in_ring = fetch_index_q & (size - 1'b1);
  assign room         = held_q > HeldWidth'(PrefetchDepth - 16) ? 5'(HeldWidth'(PrefetchDepth) - held_q) : 5'd16;
  assign in_block     = 5'(fetch_index_q[3:0]) & (size[31:4] != '0 ? 5'd15 : 5'(size - 1'b1));
  assign to_boundary  = (size[31:4] != '0 ? 5'd16 : 5'(size)) - in_block;

  always_comb begin
    fetch_count = to_boundary;
    if (unfetched < 32'(fetch_count)) fetch_count = unfetched[4:0];
    if (room < fetch_count) fetch_count = room;
    // Most looks at a parked ring find that it must go on waiting: nothing is fetched behind the wait.
    if (ring_q.parked) fetch_count = held_q == '0 ? {4'd0, unfetched != '0} : '0;
  end

  assign fetch_valid_o   = state_q == Run && fetch_count != '0 && !impossible_q && !unreachable && !halted && !park_q && !yield;
  assign fetch_address_o = ring_q.base[PaWidth-1:0] + {PaWidth'(slot_in_ring) << WordShift};
  assign fetch_len_o     = 4'(fetch_count - 1'b1);

  datum_dma_queue #(.Width(513), .Depth(PrefetchDepth)) u_prefetched (
    .clk_i, .rst_ni, .clear_i(queue_clear), .push_i(fetched_i), .data_i({fetched_bad_i, fetched_data_i}), .ready_o(queue_ready),
    .valid_o(queue_valid), .data_o({bad, descriptor}), .pop_i(queue_pop)
  );
  logic unused_ready;
  assign unused_ready = queue_ready;

  logic fetch_go;
  assign fetch_go = fetch_valid_o && fetch_ready_i;
  always_ff @(posedge clk_i) begin
    if (fetch_go) fetch_index_q <= fetch_index_q + 32'(fetch_count);
    held_q      <= held_q + (fetch_go ? HeldWidth'(fetch_count) : '0) - HeldWidth'(queue_pop);
    in_flight_q <= in_flight_q + (fetch_go ? HeldWidth'(fetch_count) : '0) - HeldWidth'(fetched_i);
    if (bind_i) fetch_index_q <= binding_i.head;
    if (queue_clear || !rst_ni) held_q <= '0;
    if (!rst_ni) in_flight_q <= '0;
  end

  // ---- beginning a descriptor -------------------------------------------------------------------------------------------

  logic         decode_bad, moves, region, fence, begin_ready, begin_now, look_now, reject_now, resume_now, rows_ready, rows_start;
  logic         pause, rows_busy, suspend, tracker_single, writer_empty;
  position_t    position, resumed_position;
  cause_t       decode_cause, entry_cause;
  logic [7:0]   opcode;
  va_t          bytes;
  logic [127:0] pattern;
  logic         rejected_q;     // nothing begins behind a descriptor that fails
  logic         fence_stall, tracker_ready, tracker_empty;
  slot_t        next_slot, oldest;
  job_t         first_job;

  datum_dma_decode u_decode (
    .valid_i(queue_valid), .descriptor_i(descriptor), .spaces_i(ring_q.spaces), .bad_o(decode_bad), .cause_o(decode_cause), .opcode_o(opcode),
    .moves_o(moves), .region_o(region), .fence_o(fence), .bytes_o(bytes), .pattern_o(pattern)
  );

  logic is_wait, is_timestamp, no_descriptor;
  logic looking_q, failing;
  assign is_wait       = opcode == OPCODE_WAIT_VALUE;
  assign is_timestamp  = opcode == OPCODE_TIMESTAMP;
  assign fence_stall   = fence && !tracker_empty;
  // A ring that cannot be read fails without a descriptor.
  assign no_descriptor = impossible_q || (unreachable && ring_q.head != ring_q.tail);
  assign resume_now    = state_q == Run && midway_q && !halted && !yield;
  assign begin_ready   = state_q == Run && !midway_q && !halted && !failing && !rejected_q && !looking_q && !park_q && !yield && tracker_ready
                         && rows_ready;
  assign reject_now    = begin_ready && (no_descriptor || (queue_valid && (bad || decode_bad)));
  assign look_now      = begin_ready && !no_descriptor && queue_valid && !bad && !decode_bad && is_wait && tracker_empty;
  assign begin_now     = begin_ready && !no_descriptor && queue_valid && !bad && !decode_bad && !is_wait && !fence_stall;
  assign rows_start    = look_now || (begin_now && moves);

  // A ring that makes way stops between two runs of its descriptor, unless that is a look.
  assign pause = (yield && !looking_q) || state_q == Leave;
  assign suspend = pause && rows_busy && tracker_single && writer_empty;
  always_comb begin
    resumed_position = '0;
    if (resume_now) begin
      resumed_position            = suspended_q.position;
      resumed_position.first.slot = next_slot;
    end
  end

  logic [31:0] head_slot;
  logic [63:0] slot_address;
  assign head_slot    = ring_q.head & (size - 1'b1);
  assign slot_address = ring_q.base + (64'(head_slot) << WordShift);
  always_comb begin
    entry_cause = decode_cause;
    if (bad) entry_cause = '{status: STATUS_HOST_BUS, reason: FAULT_REASON_DESCRIPTOR_FETCH, write: 1'b0, space: '0,
                             address: slot_address};
    if (no_descriptor) entry_cause = impossible_q
      ? '{status: STATUS_MALFORMED, reason: FAULT_REASON_SIZE, write: 1'b0, space: '0, address: '0}
      : '{status: STATUS_HOST_BUS, reason: FAULT_REASON_DESCRIPTOR_FETCH, write: 1'b0, space: '0,
          address: slot_address};
  end

  always_comb begin
    first_job = '0;
    if (rows_start) first_job = '{
    slot: next_slot, last: 1'b0, fill: opcode != OPCODE_COPY && opcode != OPCODE_COPY_REGION && !is_wait, look: is_wait,
    sync: opcode == OPCODE_WRITE_VALUE || is_timestamp, bad: 1'b0, bad_write: 1'b0, bad_address: '0,
    src_space: is_wait ? descriptor[DESCRIPTOR_DST_SPACE_BIT +: SpaceWidth] : descriptor[DESCRIPTOR_SRC_SPACE_BIT +: SpaceWidth],
    dst_space: descriptor[DESCRIPTOR_DST_SPACE_BIT +: SpaceWidth],
    src: is_wait ? descriptor[DESCRIPTOR_DST_ADDRESS_BIT +: VaWidth] : descriptor[DESCRIPTOR_SRC_ADDRESS_BIT +: VaWidth],
    dst: descriptor[DESCRIPTOR_DST_ADDRESS_BIT +: VaWidth],
    bytes: bytes, pattern: is_timestamp ? {timer_i, timer_i} : pattern
    };
  end

  // ---- looking at the word of a wait --------------------------------------------------------------------------------------

  logic         look_issued, look_done, judge_q, relook_q, hold, broken, resume;
  logic [63:0]  look_word, word_q, masked;
  watch_t       look_place, watch_q;
  logic [1:0]   condition;
  logic         push;

  assign condition = descriptor[DESCRIPTOR_WAIT_CONDITION_BIT +: 2];
  assign masked    = word_q & descriptor[DESCRIPTOR_WAIT_MASK_BIT +: 64];
  assign broken    = judge_q && (word_q & descriptor[DESCRIPTOR_WAIT_ERROR_MASK_BIT +: 64]) != '0;
  always_comb begin
    unique case (condition)
      WAIT_CONDITION_EQUAL:     hold = masked == descriptor[DESCRIPTOR_VALUE_BIT +: 64];
      WAIT_CONDITION_NOT_EQUAL: hold = masked != descriptor[DESCRIPTOR_VALUE_BIT +: 64];
      default:                  hold = masked >= descriptor[DESCRIPTOR_VALUE_BIT +: 64];
    endcase
  end
  assign resume    = judge_q && !broken && hold;
  assign resumed_o = push && ring_q.parked;
  assign watch_o   = watch_q;

  logic read_failed;
  always_ff @(posedge clk_i) begin
    judge_q <= look_done && !read_failed && state_q == Run;
    if (look_done) word_q <= look_word;
    if (look_issued) watch_q <= look_place;
    // From here on a write to the place is not missed.
    relook_q <= (look_issued || look_now ? 1'b0 : relook_q) | landed_hit_i | drain_i;
    if (look_now) looking_q <= 1'b1;
    if (resume || queue_clear || !rst_ni) looking_q <= 1'b0;
    if (judge_q && !broken && !hold) park_q <= 1'b1;
    if (bind_i || !rst_ni) park_q <= 1'b0;
    if (!rst_ni) judge_q <= 1'b0;
  end

  // ---- order of descriptors, failures -------------------------------------------------------------------------------------

  logic       done, failed, retire, retire_complete, retire_interrupt;
  cause_t     failed_cause;
  slot_t      failing_slot;
  logic [31:0] entry_head, entry_sequence;
  logic       entry_complete, entry_raise;
  logic [4:0] failure_valid;
  failure_t [4:0] failures;
  assign queue_pop  = begin_now || resume;
  assign push       = begin_now || reject_now || resume || resume_now;
  assign entry_head = resume_now || bad || no_descriptor ? ring_q.head : ring_q.head + 1'b1;
  always_comb begin
    entry_sequence = descriptor[DESCRIPTOR_SEQUENCE_BIT +: 32];
    entry_complete = descriptor[DESCRIPTOR_FLAG_COMPLETE_BIT] || descriptor[DESCRIPTOR_FLAG_INTERRUPT_BIT];
    entry_raise    = descriptor[DESCRIPTOR_FLAG_INTERRUPT_BIT];
    if (bad || no_descriptor) entry_sequence = '0;
    if (resume_now) begin
      entry_sequence = suspended_q.sequence_number;
      entry_complete = suspended_q.complete;
      entry_raise    = suspended_q.raise;
    end
  end

  logic [31:0] oldest_sequence, oldest_head;
  datum_dma_tracker u_tracker (
    .clk_i, .rst_ni, .clear_i(flush), .hold_i(state_q == Stop || (state_q == Run && halted)),
    .push_i(push), .note_i(look_now), .writes_i((begin_now && moves) || resume_now), .bad_i(reject_now), .cause_i(entry_cause),
    .complete_i(entry_complete), .interrupt_i(entry_raise),
    .sequence_number_i(entry_sequence), .head_i(entry_head), .ready_o(tracker_ready),
    .empty_o(tracker_empty), .single_o(tracker_single), .next_slot_o(next_slot), .oldest_o(oldest), .done_i(done),
    .failure_valid_i(failure_valid), .failure_i(failures), .failing_o(failing), .failing_slot_o(failing_slot), .failed_o(failed),
    .failed_cause_o(failed_cause), .retire_o(retire), .complete_o(retire_complete), .interrupt_o(retire_interrupt),
    .sequence_number_o(oldest_sequence), .head_o(oldest_head)
  );

  assign failure_valid[4] = broken;
  always_comb begin
    failures[4] = '0;
    if (broken) failures[4] = '{slot: next_slot, cause: '{
      status: STATUS_DEPENDENCY, reason: FAULT_REASON_NONE, write: 1'b0, space: descriptor[DESCRIPTOR_DST_SPACE_BIT +: 15],
      address: descriptor[DESCRIPTOR_DST_ADDRESS_BIT +: 64]}};
  end
  assign read_failed = failure_valid[2];

  // ---- the mover ------------------------------------------------------------------------------------------------------------

  logic                 job_valid, job_ready, write_job_valid, write_job_ready, word_valid, word_popped;
  job_t                 job;
  write_job_t           write_job;
  logic [DataWidth-1:0] data_word;

  datum_dma_rows #(.PieceBytes(QuantumBytes)) u_rows (
    .clk_i, .rst_ni, .flush_i(flush), .start_i(rows_start), .ready_o(rows_ready), .first_i(first_job), .region_i(region),
    .rows_i(descriptor[DESCRIPTOR_REGION_ROWS_BIT +: 32]), .planes_i(descriptor[DESCRIPTOR_REGION_PLANES_BIT +: 32]),
    .src_row_pitch_i(descriptor[DESCRIPTOR_SRC_ROW_PITCH_BIT +: 32]), .dst_row_pitch_i(descriptor[DESCRIPTOR_DST_ROW_PITCH_BIT +: 32]),
    .src_slice_pitch_i(descriptor[DESCRIPTOR_SRC_SLICE_PITCH_BIT +: 32]),
    .dst_slice_pitch_i(descriptor[DESCRIPTOR_DST_SLICE_PITCH_BIT +: 32]),
    .pause_i(pause), .busy_o(rows_busy), .position_o(position), .resume_i(resume_now), .resumed_i(resumed_position),
    .job_valid_o(job_valid), .job_o(job), .job_ready_i(job_ready)
  );

  datum_dma_reader #(.BufferWords(ReadBufferBeats), .Outstanding(OutstandingReads)) u_reader (
    .clk_i, .rst_ni, .flush_i(flush), .forget_i(forget), .stop_i(failing || state_q == Stop || halted), .drain_i, .idle_o(reader_idle),
    .job_valid_i(job_valid), .job_i(job), .job_ready_o(job_ready),
    .write_job_valid_o(write_job_valid), .write_job_o(write_job), .write_job_ready_i(write_job_ready),
    .word_valid_o(word_valid), .word_o(data_word), .word_popped_i(word_popped),
    .look_issued_o(look_issued), .look_place_o(look_place), .look_done_o(look_done), .look_word_o(look_word),
    .refused_valid_o(failure_valid[3]), .refused_o(failures[3]), .failed_valid_o(failure_valid[2]), .failed_o(failures[2]),
    .tr_req_valid_o(tr_req_valid_o[0]), .tr_req_o(tr_req_o[0]), .tr_req_ready_i(tr_req_ready_i[0]),
    .tr_rsp_valid_i(tr_rsp_valid_i[0]), .tr_rsp_i(tr_rsp_i[0]),
    .arvalid_o, .ar_o, .arready_i, .rvalid_i, .r_i, .rready_o
  );

  datum_dma_writer #(.BufferWords(ReadBufferBeats), .Outstanding(OutstandingWrites)) u_writer (
    .clk_i, .rst_ni, .flush_i(flush), .forget_i(forget), .drain_i, .idle_o(writer_idle), .empty_o(writer_empty),
    .stop_all_i(state_q == Stop || halted), .stop_valid_i(failing), .stop_from_i(failing_slot), .oldest_i(oldest),
    .job_valid_i(write_job_valid), .job_i(write_job), .job_ready_o(write_job_ready),
    .word_valid_i(word_valid), .word_i(data_word), .word_popped_o(word_popped), .done_o(done), .landed_o,
    .refused_valid_o(failure_valid[1]), .refused_o(failures[1]), .failed_valid_o(failure_valid[0]), .failed_o(failures[0]),
    .tr_req_valid_o(tr_req_valid_o[1]), .tr_req_o(tr_req_o[1]), .tr_req_ready_i(tr_req_ready_i[1]),
    .tr_rsp_valid_i(tr_rsp_valid_i[1]), .tr_rsp_i(tr_rsp_i[1]),
    .awvalid_o, .aw_o, .awready_i, .wvalid_o, .w_o, .wready_i, .bvalid_i, .b_i, .bready_o
  );
  assign mover_idle = reader_idle && writer_idle;
  assign idle_o     = mover_idle;

  // ---- records ----------------------------------------------------------------------------------------------------------------

  logic     record_q;
  record_t  record_info_q;
  logic     fail_now;
  assign record_valid_o = record_q && !halted;
  assign record_o       = record_info_q;
  assign fail_now       = state_q == Run && !halted && failed && mover_idle && !record_q;
  assign retired_o      = retire;
  assign executing_o    = !tracker_empty;

  always_ff @(posedge clk_i) begin
    if (record_ready_i || halted) record_q <= 1'b0;
    // A record that was not handed over yet is replaced: the later one says everything that the earlier one said.
    if ((retire && retire_complete) || fail_now) begin
      record_q <= 1'b1;
      record_info_q <= '{
        ring: ring_q.ring, completion: ring_q.completion, sequence_number: oldest_sequence, head: oldest_head,
        raise: retire_interrupt || (record_q && !record_ready_i && record_info_q.raise), failed: fail_now,
        cause: fail_now ? failed_cause : '{status: STATUS_OK, reason: FAULT_REASON_NONE, write: 1'b0, space: '0, address: '0}};
    end
    if (!rst_ni) record_q <= 1'b0;
  end

  // ---- binding -------------------------------------------------------------------------------------------------------------------

  logic         all_done, leave_now, quiet, bind_impossible;
  logic [31:0]  spent_words_q, quantum_words, quantum_count;
  logic [15:0]  spent_count_q;
  assign quantum_words = (32'(ring_q.weight) + 32'd1) * 32'(QuantumBytes / DataBytes);
  assign quantum_count = (32'(ring_q.weight) + 32'd1) * 32'(QuantumCount);
  assign spent     = spent_words_q >= quantum_words || 32'(spent_count_q) >= quantum_count;
  assign all_done  = (tracker_empty || suspend) && (!looking_q || park_q) && mover_idle && !record_q;
  // Parked, or enough was done for this time, or idle.
  assign leave_now = state_q == Run && !halted && !failed && !failing && all_done && !push && !look_now &&
                     (park_q || yield ||
                      (!midway_q && !queue_valid && in_flight_q == '0 && ring_q.head == ring_q.tail && !no_descriptor));
  assign quiet       = mover_idle && in_flight_q == '0;
  assign flush       = fail_now || ((state_q == Stop || state_q == Leave) && quiet);
  // Translations outlast the ring, refusals must not.
  assign forget      = flush && state_q != Leave;
  assign queue_clear = quiet && (state_q == Stop || state_q == Leave || state_q == Fail);

  assign free_o          = state_q == Free;
  assign ring_o          = ring_q.ring;
  assign head_o          = ring_q.head;
  assign release_valid_o = state_q == Release;
  assign release_o       = '{ring: ring_q.ring, head: ring_q.head, park: park_q && !halted,
                             again: !halted && (park_q ? relook_q || landed_hit_i : midway_q || ring_q.head != ring_q.tail), watch: watch_q,
                             midway: midway_q && !halted, suspended: release_valid_o && midway_q ? suspended_q : '0};

  function automatic logic overrun(input logic [31:0] ahead, input logic [31:0] size_log2);
    overrun = ahead != '0 && (size_log2 > 32'd16 || ahead > (32'd1 << size_log2[4:0]));
  endfunction
  assign bind_impossible = overrun(binding_i.tail - binding_i.head, binding_i.size_log2);

  always_ff @(posedge clk_i) begin
    unique case (state_q)
      Free:    if (bind_i) state_q <= Run;
      Run:     if (halted) state_q <= Stop;
               else if (fail_now) state_q <= Fail;
               else if (leave_now) state_q <= Leave;
      Fail:    if (quiet && !record_q) state_q <= Release;
      Release: if (release_ready_i) state_q <= Free;
      default: if (quiet) state_q <= Release;
    endcase
    if (queue_pop) ring_q.head <= ring_q.head + 1'b1;
    if (push) ring_q.parked <= 1'b0;
    if (fail_now) ring_q.head <= oldest_head;
    if (doorbell_i.valid && doorbell_i.ring == ring_q.ring) begin
      ring_q.tail  <= doorbell_i.tail;
      impossible_q <= impossible_q || overrun(doorbell_i.tail - ring_q.head, ring_q.size_log2);
    end
    if (reject_now) rejected_q <= 1'b1;
    if (write_job_valid) begin
      spent_words_q <= spent_words_q + 32'(write_job.words);
    end
    if (push && spent_count_q != '1) spent_count_q <= spent_count_q + 1'b1;
    if (resume_now) midway_q <= 1'b0;
    if (leave_now && suspend) begin
      midway_q    <= 1'b1;
      suspended_q <= '{position: position, complete: retire_complete, raise: retire_interrupt, sequence_number: oldest_sequence};
    end
    if (bind_i) begin
      midway_q      <= midway_i;
      if (midway_i) suspended_q <= resumed_i;
      ring_q        <= binding_i;
      impossible_q  <= bind_impossible;
      rejected_q    <= 1'b0;
      spent_words_q <= '0;
      spent_count_q <= '0;
    end
    if (!rst_ni) state_q <= Free;
  end

  // ---- rules -----------------------------------------------------------------------------------------------------------------------

  bind_when_free:    assert property (@(posedge clk_i) disable iff (!rst_ni) bind_i |-> free_o);
  record_stays:      assert property (@(posedge clk_i) disable iff (!rst_ni)
                       record_valid_o && !record_ready_i && !halted |=> record_valid_o || halted);
  released_is_empty: assert property (@(posedge clk_i) disable iff (!rst_ni)
                       release_valid_o |-> tracker_empty && mover_idle && in_flight_q == '0 && !queue_valid && !rows_busy);
  look_is_alone:     assert property (@(posedge clk_i) disable iff (!rst_ni) look_now |-> tracker_empty && mover_idle);
  stopped_ends_none: assert property (@(posedge clk_i) disable iff (!rst_ni) halted |-> !retire);
  fetch_fits:        assert property (@(posedge clk_i) disable iff (!rst_ni) held_q <= HeldWidth'(PrefetchDepth));
endmodule
