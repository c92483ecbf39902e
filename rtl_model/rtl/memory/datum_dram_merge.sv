// Columns that are read to be written back: a write covers part of a word, an error is to be repaired, or one is to be made. Until the result is
// in the write queue, no other write of the column goes ahead; a merge begins only when all earlier writes of its column are in the device.
module datum_dram_merge
  import datum_pkg::*;
  import datum_dram_pkg::*;
(
  input  logic                         clk_i,
  input  logic                         rst_ni,

  input  logic                         start_i,
  output logic                         ready_o,
  input  merge_e                       start_kind_i,
  input  column_t                      start_column_i,
  input  logic [SlotWidth-1:0]         start_slot_i,      // of the write
  input  logic [DataWidth-1:0]         start_data_i,
  input  logic [DataBytes-1:0]         start_strb_i,

  // Whether a merge of the column is under way.
  input  column_t                      beat_column_i,
  output logic                         beat_blocked_o,
  input  column_t                      upkeep_column_i,
  output logic                         upkeep_blocked_o,

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

  input  logic [$clog2(LaneCount)-1:0] inject_lane_i,

  output logic                         result_valid_o,
  input  logic                         result_take_i,
  output logic [SlotWidth-1:0]         result_slot_o,
  output column_t                      result_column_o,
  output logic [DataWidth-1:0]         result_data_o,
  output logic [LaneCount-1:0]         result_lanes_o,    // to be written; none: the column is as it should be
  output logic [LaneCount-1:0]         result_poison_o,   // part of the word is lost: it must not look right

  output logic                         scrubbing_o
);
  localparam int unsigned Merges = 2 ** MergeWidth;

  logic [Merges-1:0]     valid_q, scrub_q;
  column_t               columns_q[Merges];
  logic [SlotWidth-1:0]  slots_q[Merges];
  merge_e                kinds_q[Merges];
  logic [DataBytes-1:0]  strobes_q[Merges];
  logic [DataWidth-1:0]  written_q[Merges];
  logic [DataWidth-1:0]  read_q[Merges];
  logic [LaneCount-1:0]  corrected_q[Merges];
  logic [LaneCount-1:0]  failed_q[Merges];
  logic [MergeWidth:0]   start_q, ask_q;
  logic [MergeWidth-1:0] start, ask, result;
  logic                  result_ready;
  logic [MergeWidth:0]   unused_result_count;

  assign start       = start_q[MergeWidth-1:0];
  assign ask         = ask_q[MergeWidth-1:0];
  assign ready_o     = !valid_q[start];
  assign ask_valid_o = ask_q != start_q;
  assign ask_place_o = place_of(columns_q[ask]);
  assign ask_tag_o   = '{merge: 1'b1, index: SlotWidth'(ask)};
  assign scrubbing_o = (valid_q & scrub_q) != '0;

  assign data_column_o = columns_q[data_index_i];
  assign data_kind_o   = kinds_q[data_index_i];

  always_comb begin
    beat_blocked_o   = 1'b0;
    upkeep_blocked_o = 1'b0;
    if (valid_q != '0) begin
      for (int unsigned i = 0; i < Merges; i++) begin
        if (valid_q[i] && columns_q[i] == beat_column_i) beat_blocked_o = 1'b1;
        if (valid_q[i] && columns_q[i] == upkeep_column_i) upkeep_blocked_o = 1'b1;
      end
    end
  end

  datum_fifo #(.Width(MergeWidth), .DepthLog2(MergeWidth)) u_results (
    .clk_i, .rst_ni, .valid_i(data_valid_i), .ready_o(result_ready), .data_i(data_index_i),
    .valid_o(result_valid_o), .ready_i(result_take_i), .data_o(result), .count_o(unused_result_count)
  );

  assign result_slot_o   = slots_q[result];
  assign result_column_o = columns_q[result];

  logic [7:0]  lane_strobes;
  logic [63:0] lane_mask;
  always_comb begin
    result_data_o   = '0;
    result_lanes_o  = '0;
    result_poison_o = '0;
    lane_strobes    = '0;
    lane_mask       = '0;
    if (result_valid_o) begin
      for (int unsigned l = 0; l < LaneCount; l++) begin
        lane_strobes = strobes_q[result][8*l+:8];
        for (int unsigned b = 0; b < 8; b++) lane_mask[8*b+:8] = {8{lane_strobes[b]}};
        result_data_o[64*l+:64] = (read_q[result][64*l+:64] & ~lane_mask) | (written_q[result][64*l+:64] & lane_mask);
        result_lanes_o[l]  = lane_strobes != '0 || corrected_q[result][l]
                             || (kinds_q[result] == MergeInject && inject_lane_i == ($clog2(LaneCount))'(l));
        result_poison_o[l] = failed_q[result][l] && lane_strobes != '1;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      valid_q <= '0;
      scrub_q <= '0;
      start_q <= '0;
      ask_q   <= '0;
    end else begin
      if (start_i) begin
        valid_q[start] <= 1'b1;
        scrub_q[start] <= start_kind_i == MergeScrub;
        start_q        <= start_q + 1'b1;
      end
      if (ask_valid_o && ask_ready_i) ask_q <= ask_q + 1'b1;
      if (result_take_i) valid_q[result] <= 1'b0;
    end
  end

  always_ff @(posedge clk_i) begin
    if (start_i) begin
      kinds_q[start]   <= start_kind_i;
      columns_q[start] <= start_column_i;
      slots_q[start]   <= start_slot_i;
      strobes_q[start] <= start_strb_i;
      written_q[start] <= start_data_i;
    end
    if (data_valid_i) begin
      read_q[data_index_i]      <= data_i;
      corrected_q[data_index_i] <= data_corrected_i;
      failed_q[data_index_i]    <= data_failed_i;
    end
  end

  start_when_ready: assert property (@(posedge clk_i) disable iff (!rst_ni) start_i |-> ready_o);
  data_has_a_merge: assert property (@(posedge clk_i) disable iff (!rst_ni) data_valid_i |-> valid_q[data_index_i] && result_ready);
  take_has_a_result: assert property (@(posedge clk_i) disable iff (!rst_ni) result_take_i |-> result_valid_o);
endmodule
