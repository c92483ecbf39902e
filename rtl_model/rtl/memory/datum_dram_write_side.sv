// Writes: splits bursts into column accesses, keeps their data until they are issued, and answers a burst when all its columns were written
// and all earlier bursts are answered. So an answered write is in the memory itself, for every reader of it. A column of which a word is written in
// part goes through a merge first; so does what keeps the memory right.
module datum_dram_write_side
  import datum_pkg::*;
  import datum_dram_pkg::*;
(
  input  logic                         clk_i,
  input  logic                         rst_ni,

  input  logic                         awvalid_i,
  output logic                         awready_o,
  input  fabric_ax_t                   aw_i,
  input  logic                         wvalid_i,
  output logic                         wready_o,
  input  axi_w_t                       w_i,
  output logic                         bvalid_o,
  input  logic                         bready_i,
  output fabric_b_t                    b_o,

  // Columns to be read, and written back where they are not as they should be.
  input  logic                         upkeep_valid_i,
  output logic                         upkeep_ready_o,
  input  merge_e                       upkeep_kind_i,
  input  column_t                      upkeep_column_i,
  input  injection_t                   injection_i,       // constant from its request until injecting_o falls
  output logic                         injecting_o,
  output logic                         scrubbing_o,

  output logic                         push_valid_o,
  input  logic                         push_ready_i,
  output dram_place_t                  push_place_o,
  output logic [SlotWidth-1:0]         push_slot_o,

  // Reads of merges, and their data.
  output logic                         ask_valid_o,
  input  logic                         ask_ready_i,
  output dram_place_t                  ask_place_o,
  output read_tag_t                    ask_tag_o,
  input  logic                         data_valid_i,
  input  logic [MergeWidth-1:0]        data_index_i,
  input  logic [DataWidth-1:0]         data_i,
  input  logic [LaneCount-1:0]         data_corrected_i,
  input  logic [LaneCount-1:0]         data_failed_i,
  output column_t                      data_column_o,
  output merge_e                       data_kind_o,

  input  logic                         issue_i,
  input  logic [SlotWidth-1:0]         issue_slot_i,
  output logic [DataWidth-1:0]         issue_data_o,
  output logic [8*LaneCount-1:0]       issue_check_o,
  output logic [LaneCount-1:0]         issue_lanes_o,
  output logic [63:0]                  issue_flips_o,     // bits of the word in issue_flip_lane_o that are to be wrong
  output logic [$clog2(LaneCount)-1:0] issue_flip_lane_o,

  output logic                         wanted_o,          // something waits for writes that are in the queue
  output logic                         idle_o
);
  localparam int unsigned Slots = 2 ** SlotWidth;
  localparam int unsigned HashWidth = 6;

  // Columns that share a hash are taken for one another: that costs time only.
  function automatic logic [HashWidth-1:0] hash_of(input column_t column);
    return column[11:6] ^ column[17:12] ^ column[23:18] ^ column[29:24] ^ column[35:30] ^ HashWidth'(column[38:36]);
  endfunction

  logic [SlotWidth:0]     tail_q, head_q;
  logic [DataWidth-1:0]   data_q[Slots];
  logic [LaneCount-1:0]   lanes_q[Slots];
  logic [LaneCount-1:0]   poison_q[Slots];
  logic [FabricIdWidth:0] tag_q[Slots];      // id, last
  logic [HashWidth-1:0]   hash_q[Slots];
  logic [Slots-1:0]       done_q;
  logic [3:0]             beat_q;
  logic [SlotWidth:0]     pushes_q[2**HashWidth];   // by hash: columns that went into the queue, and that left it
  logic [SlotWidth:0]     issues_q[2**HashWidth];
  logic                   turn_q;                   // a beat went last
  logic                   injecting_q;
  logic [SlotWidth-1:0]   inject_slot_q;

  logic                   last, room, beat, beat_partial, beat_settled, beat_blocked, beat_take, beat_push;
  logic [LaneCount-1:0]   beat_lanes;
  column_t                beat_column, push_column;
  logic                   upkeep_settled, upkeep_blocked, upkeep_take;
  logic                   merge_ready, merge_start, result_valid, result_push, result_take;
  logic [SlotWidth-1:0]   tail, result_slot;
  column_t                result_column;
  logic [DataWidth-1:0]   result_data;
  logic [LaneCount-1:0]   result_lanes, result_poison;
  logic [SlotWidth:0]     used;
  logic                   push, head_done, head_last, inject_now;

  assign used        = tail_q - head_q;
  assign room        = !used[SlotWidth];
  assign tail        = tail_q[SlotWidth-1:0];
  assign last        = beat_q == aw_i.len;
  assign beat        = awvalid_i && wvalid_i && room;
  assign beat_column = {aw_i.addr.address[38:12], aw_i.addr.address[11:6] + 6'(beat_q)};

  always_comb begin
    beat_lanes   = '0;
    beat_partial = 1'b0;
    if (beat) begin
      for (int unsigned l = 0; l < LaneCount; l++) begin
        beat_lanes[l] = w_i.strb[8*l+:8] != '0;
        if (beat_lanes[l] && w_i.strb[8*l+:8] != '1) beat_partial = 1'b1;
      end
    end
  end

  assign beat_settled   = pushes_q[hash_of(beat_column)] == issues_q[hash_of(beat_column)];
  assign upkeep_settled = pushes_q[hash_of(upkeep_column_i)] == issues_q[hash_of(upkeep_column_i)];
  assign wanted_o       = (beat && beat_partial && !beat_settled) || (upkeep_valid_i && !upkeep_settled);

  // In turn with beats, if there are any.
  assign upkeep_take = upkeep_valid_i && room && merge_ready && upkeep_settled && !upkeep_blocked && (turn_q || !(awvalid_i && wvalid_i));
  assign beat_push   = beat && !beat_partial && !beat_blocked && !upkeep_take && !result_push;
  assign beat_take   = beat_partial ? beat_settled && !beat_blocked && merge_ready && !upkeep_take : beat_push && push_ready_i;

  assign result_push  = result_valid && result_lanes != '0;
  assign result_take  = result_valid && (result_lanes == '0 || push_ready_i);
  assign push_valid_o = result_push || beat_push;
  assign push_column  = result_push ? result_column : beat_column;
  assign push_place_o = place_of(push_column);
  assign push_slot_o  = result_push ? result_slot : tail;
  assign push         = push_valid_o && push_ready_i;

  assign wready_o       = beat_take;
  assign awready_o      = beat_take && last;
  assign upkeep_ready_o = upkeep_take;
  assign merge_start    = upkeep_take || (beat_take && beat_partial);

  datum_dram_merge u_merge (
    .clk_i, .rst_ni,
    .start_i         (merge_start),
    .ready_o         (merge_ready),
    .start_kind_i    (upkeep_take ? upkeep_kind_i : MergeWrite),
    .start_column_i  (upkeep_take ? upkeep_column_i : beat_column),
    .start_slot_i    (tail),
    .start_data_i    (w_i.data),
    .start_strb_i    (upkeep_take ? '0 : w_i.strb),
    .beat_column_i   (beat_column),
    .beat_blocked_o  (beat_blocked),
    .upkeep_column_i,
    .upkeep_blocked_o(upkeep_blocked),
    .ask_valid_o, .ask_ready_i, .ask_place_o, .ask_tag_o,
    .data_valid_i, .data_index_i, .data_i, .data_corrected_i, .data_failed_i, .data_column_o, .data_kind_o,
    .inject_lane_i   (injection_i.lane),
    .result_valid_o  (result_valid),
    .result_take_i   (result_take),
    .result_slot_o   (result_slot),
    .result_column_o (result_column),
    .result_data_o   (result_data),
    .result_lanes_o  (result_lanes),
    .result_poison_o (result_poison),
    .scrubbing_o
  );

  // --- to the device

  logic [8*LaneCount-1:0] check;

  assign issue_data_o  = data_q[issue_slot_i];
  assign issue_lanes_o = lanes_q[issue_slot_i];
  assign inject_now    = injecting_q && issue_slot_i == inject_slot_q;
  assign injecting_o   = injecting_q;
  assign issue_flips_o = inject_now ? injection_i.data : '0;
  assign issue_flip_lane_o = injection_i.lane;

  datum_ecc_encoder #(.Lanes(LaneCount)) u_check (.valid_i(issue_i), .data_i(issue_data_o), .check_o(check));

  always_comb begin
    issue_check_o = check;
    if (poison_q[issue_slot_i] != '0) begin
      for (int unsigned l = 0; l < LaneCount; l++) if (poison_q[issue_slot_i][l]) issue_check_o[8*l+:8] ^= datum_ecc_pkg::Poison;
    end
    if (inject_now) issue_check_o[8*injection_i.lane+:8] ^= injection_i.check;
  end

  // --- answers

  assign head_done = done_q[head_q[SlotWidth-1:0]];
  assign head_last = tag_q[head_q[SlotWidth-1:0]][0];
  assign bvalid_o  = head_done && head_last;
  assign b_o       = '{id: tag_q[head_q[SlotWidth-1:0]][FabricIdWidth:1], resp: '0};
  assign idle_o    = !awvalid_i && !wvalid_i && !upkeep_valid_i && used == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tail_q      <= '0;
      head_q      <= '0;
      beat_q      <= '0;
      done_q      <= '0;
      turn_q      <= 1'b0;
      injecting_q <= 1'b0;
      for (int unsigned i = 0; i < 2 ** HashWidth; i++) begin
        pushes_q[i] <= '0;
        issues_q[i] <= '0;
      end
    end else begin
      if (beat_take || upkeep_take) tail_q <= tail_q + 1'b1;
      if (beat_take || upkeep_take) turn_q <= beat_take;
      if (beat_take) beat_q <= last ? '0 : beat_q + 1'b1;
      if (push) pushes_q[hash_of(push_column)] <= pushes_q[hash_of(push_column)] + 1'b1;
      if (issue_i) issues_q[hash_q[issue_slot_i]] <= issues_q[hash_q[issue_slot_i]] + 1'b1;
      if (upkeep_take && upkeep_kind_i == MergeInject) injecting_q <= 1'b1;
      else if (issue_i && inject_now) injecting_q <= 1'b0;
      if (issue_i) done_q[issue_slot_i] <= 1'b1;
      if (result_take && !result_push) done_q[result_slot] <= 1'b1;
      if (head_done && (!head_last || bready_i)) begin
        head_q                        <= head_q + 1'b1;
        done_q[head_q[SlotWidth-1:0]] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    // What a merge began for itself is answered to nobody.
    if (beat_take || upkeep_take) tag_q[tail] <= {aw_i.id, last && !upkeep_take};
    if (upkeep_take && upkeep_kind_i == MergeInject) inject_slot_q <= tail;
    if (push) begin
      data_q[push_slot_o]   <= result_push ? result_data : w_i.data;
      lanes_q[push_slot_o]  <= result_push ? result_lanes : beat_lanes;
      poison_q[push_slot_o] <= result_push ? result_poison : '0;
      hash_q[push_slot_o]   <= hash_of(push_column);
    end
  end

  w_last_matches_length: assert property (@(posedge clk_i) disable iff (!rst_ni) beat_take |-> w_i.last == last);
  one_at_a_time: assert property (@(posedge clk_i) disable iff (!rst_ni) !(beat_take && upkeep_take));
endmodule
