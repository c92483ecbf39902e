// DRAM controller: AXI bursts of the fabric in, commands to the device out. Each word of 64 bits has check bits: one wrong bit is corrected, for the
// reader and in the memory; a read that meets more is answered with SLVERR.
module datum_dram_ctrl
  import datum_pkg::*;
  import datum_dram_pkg::*;
(
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  dram_timing_t           timing_i,
  input  logic                   timing_apply_i,
  output logic                   timing_taken_o,  // it is in effect behind the refresh of this cycle

  input  logic                   awvalid_i,
  output logic                   awready_o,
  input  fabric_ax_t             aw_i,
  input  logic                   wvalid_i,
  output logic                   wready_o,
  input  axi_w_t                 w_i,
  output logic                   bvalid_o,
  input  logic                   bready_i,
  output fabric_b_t              b_o,
  input  logic                   arvalid_i,
  output logic                   arready_o,
  input  fabric_ax_t             ar_i,
  output logic                   rvalid_o,
  input  logic                   rready_i,
  output fabric_r_t              r_o,

  output logic                   dram_act_valid_o,
  output logic [BankWidth-1:0]   dram_act_bank_o,
  output logic [RowWidth-1:0]    dram_act_row_o,
  output logic                   dram_pre_valid_o,
  output logic [BankWidth-1:0]   dram_pre_bank_o,
  output logic                   dram_pre_all_o,
  output logic                   dram_ref_valid_o,
  output logic                   dram_cas_valid_o,
  output logic                   dram_cas_write_o,
  output logic [BankWidth-1:0]   dram_cas_bank_o,
  output logic [ColumnWidth-1:0] dram_cas_col_o,
  output logic [DataWidth-1:0]   dram_wdata_o,
  output logic [8*LaneCount-1:0] dram_wcheck_o,
  output logic [LaneCount-1:0]   dram_wlanes_o,
  output logic [63:0]            dram_wflips_o,
  output logic [2:0]             dram_wflip_lane_o,
  input  logic                   dram_rvalid_i,
  input  logic [DataWidth-1:0]   dram_rdata_i,
  input  logic [8*LaneCount-1:0] dram_rcheck_i,

  // Columns to be scrubbed, and an error to be made.
  input  logic                   scrub_valid_i,
  output logic                   scrub_ready_o,
  input  column_t                scrub_column_i,
  output logic                   scrubbing_o,
  input  logic                   inject_valid_i,
  output logic                   inject_ready_o,
  input  column_t                inject_column_i,
  input  injection_t             injection_i,
  output logic                   injecting_o,

  output logic                   ecc_valid_o,
  output ecc_event_t             ecc_o,

  output logic                   ready_o,   // initialisation is done
  output logic                   idle_o     // no access is under way; refreshes do not count
);
  logic                 read_push_valid, write_push_valid, read_push_ready, write_push_ready;
  dram_place_t          read_push_place, write_push_place;
  logic [SlotWidth-1:0] read_push_slot, write_push_slot;
  logic [BankCount-1:0] read_has, write_has;
  logic [RowWidth-1:0]  read_row[BankCount];
  logic [RowWidth-1:0]  write_row[BankCount];
  dram_entry_t          read_head[BankCount];
  dram_entry_t          write_head[BankCount];
  logic [SlotWidth:0]   read_count, write_count;
  logic                 column, column_write;
  logic [BankWidth-1:0] column_bank;
  logic [ColumnWidth-1:0] column_address;
  logic [TagWidth-1:0]  column_tag;
  logic                 activate, precharge, precharge_all, refresh;
  logic [BankWidth-1:0] activate_bank, precharge_bank;
  logic [RowWidth-1:0]  activate_row;
  logic [DataWidth-1:0] issue_data;
  logic [8*LaneCount-1:0] issue_check;
  logic [LaneCount-1:0] issue_lanes;
  logic [63:0]          issue_flips;
  logic [2:0]           issue_flip_lane;
  logic                 read_idle, write_idle, ready, write_wanted;

  // --- what comes back

  logic                   back;
  read_tag_t              back_tag;
  logic [DataWidth-1:0]   back_data;
  logic [LaneCount-1:0]   back_corrected, back_failed;
  logic [8*LaneCount-1:0] back_syndrome;
  column_t                read_column, merge_column, back_column;
  merge_e                 merge_kind;
  logic                   wrong;

  datum_dram_return u_return (
    .clk_i, .rst_ni, .issue_i(column && !column_write), .issue_tag_i(column_tag), .dram_rvalid_i, .dram_rdata_i, .dram_rcheck_i,
    .valid_o(back), .tag_o(back_tag), .data_o(back_data), .corrected_o(back_corrected), .failed_o(back_failed), .syndrome_o(back_syndrome)
  );

  assign back_column = back_tag.merge ? merge_column : read_column;
  assign wrong       = back && (back_corrected | back_failed) != '0;

  // A repair reads what was reported before.
  always_ff @(posedge clk_i) begin
    if (!rst_ni) ecc_valid_o <= 1'b0;
    else ecc_valid_o <= wrong && !(back_tag.merge && merge_kind == MergeRepair);
    if (wrong) ecc_o <= '{
      corrected: back_corrected, failed: back_failed, syndrome: back_syndrome, column: back_column,
      scrub: back_tag.merge && merge_kind == MergeScrub
    };
  end

  // --- upkeep: an injection, repairs of what reads met, the scrubber. A repair that finds no room is left to the next read.

  logic       repair, repair_waits, unused_repair_room;
  column_t    repair_column;
  logic [2:0] unused_repairs;
  logic       upkeep, upkeep_ready, ask, ask_ready;
  merge_e     upkeep_kind;
  column_t    upkeep_column;
  dram_place_t ask_place;
  read_tag_t  ask_tag;

  assign repair = wrong && !back_tag.merge && back_corrected != '0;
  datum_fifo #(.Width($bits(column_t)), .DepthLog2(2)) u_repairs (
    .clk_i, .rst_ni, .valid_i(repair), .ready_o(unused_repair_room), .data_i(read_column), .valid_o(repair_waits),
    .ready_i(upkeep_ready && !inject_valid_i), .data_o(repair_column), .count_o(unused_repairs)
  );
  assign upkeep         = inject_valid_i || repair_waits || scrub_valid_i;
  assign upkeep_kind    = inject_valid_i ? MergeInject : repair_waits ? MergeRepair : MergeScrub;
  assign upkeep_column  = inject_valid_i ? inject_column_i : repair_waits ? repair_column : scrub_column_i;
  assign inject_ready_o = upkeep_ready;
  assign scrub_ready_o  = upkeep_ready && !inject_valid_i && !repair_waits;

  // --- queues

  logic                   queue_valid, queue_ready;
  dram_place_t            queue_place;
  read_tag_t              queue_tag;

  // Reads of merges first: somebody waits for a write.
  assign queue_valid     = ask || read_push_valid;
  assign queue_place     = ask ? ask_place : read_push_place;
  assign queue_tag       = ask ? ask_tag : '{merge: 1'b0, index: read_push_slot};
  assign ask_ready       = queue_ready;
  assign read_push_ready = queue_ready && !ask;

  datum_dram_read_side u_read (
    .clk_i, .rst_ni, .arvalid_i, .arready_o, .ar_i, .rvalid_o, .rready_i, .r_o,
    .push_valid_o(read_push_valid),
    .push_ready_i(read_push_ready),
    .push_place_o(read_push_place),
    .push_slot_o (read_push_slot),
    .data_valid_i (back && !back_tag.merge),
    .data_slot_i  (back_tag.index),
    .data_i       (back_data),
    .data_failed_i(back_failed != '0),
    .data_column_o(read_column),
    .idle_o       (read_idle)
  );

  datum_dram_write_side u_write (
    .clk_i, .rst_ni, .awvalid_i, .awready_o, .aw_i, .wvalid_i, .wready_o, .w_i, .bvalid_o, .bready_i, .b_o,
    .upkeep_valid_i   (upkeep),
    .upkeep_ready_o   (upkeep_ready),
    .upkeep_kind_i    (upkeep_kind),
    .upkeep_column_i  (upkeep_column),
    .injection_i,
    .injecting_o,
    .scrubbing_o,
    .push_valid_o     (write_push_valid),
    .push_ready_i     (write_push_ready),
    .push_place_o     (write_push_place),
    .push_slot_o      (write_push_slot),
    .ask_valid_o      (ask),
    .ask_ready_i      (ask_ready),
    .ask_place_o      (ask_place),
    .ask_tag_o        (ask_tag),
    .data_valid_i     (back && back_tag.merge),
    .data_index_i     (back_tag.index[MergeWidth-1:0]),
    .data_i           (back_data),
    .data_corrected_i (back_corrected),
    .data_failed_i    (back_failed),
    .data_column_o    (merge_column),
    .data_kind_o      (merge_kind),
    .issue_i          (column && column_write),
    .issue_slot_i     (column_tag[SlotWidth-1:0]),
    .issue_data_o     (issue_data),
    .issue_check_o    (issue_check),
    .issue_lanes_o    (issue_lanes),
    .issue_flips_o    (issue_flips),
    .issue_flip_lane_o(issue_flip_lane),
    .wanted_o         (write_wanted),
    .idle_o           (write_idle)
  );

  datum_dram_bank_queue u_read_queue (
    .clk_i, .rst_ni,
    .push_valid_i(queue_valid),
    .push_ready_o(queue_ready),
    .push_place_i(queue_place),
    .push_tag_i  (queue_tag),
    .pop_i       (column && !column_write),
    .pop_bank_i  (column_bank),
    .has_o       (read_has),
    .row_o       (read_row),
    .head_o      (read_head),
    .count_o     (read_count)
  );

  datum_dram_bank_queue u_write_queue (
    .clk_i, .rst_ni,
    .push_valid_i(write_push_valid),
    .push_ready_o(write_push_ready),
    .push_place_i(write_push_place),
    .push_tag_i  (TagWidth'(write_push_slot)),
    .pop_i       (column && column_write),
    .pop_bank_i  (column_bank),
    .has_o       (write_has),
    .row_o       (write_row),
    .head_o      (write_head),
    .count_o     (write_count)
  );

  datum_dram_scheduler u_scheduler (
    .clk_i, .rst_ni, .timing_i, .timing_apply_i, .timing_taken_o,
    .read_has_i      (read_has),
    .read_row_i      (read_row),
    .read_head_i     (read_head),
    .read_count_i    (read_count),
    .write_has_i     (write_has),
    .write_row_i     (write_row),
    .write_head_i    (write_head),
    .write_count_i   (write_count),
    .write_wanted_i  (write_wanted),
    .column_o        (column),
    .column_write_o  (column_write),
    .column_bank_o   (column_bank),
    .column_address_o(column_address),
    .column_tag_o    (column_tag),
    .activate_o      (activate),
    .activate_bank_o (activate_bank),
    .activate_row_o  (activate_row),
    .precharge_o     (precharge),
    .precharge_all_o (precharge_all),
    .precharge_bank_o(precharge_bank),
    .refresh_o       (refresh),
    .ready_o         (ready)
  );

  assign ready_o = ready;
  // The registered command is still to reach the device.
  assign idle_o  = ready && read_idle && write_idle && !dram_cas_valid_o && !ecc_valid_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      dram_act_valid_o <= 1'b0;
      dram_pre_valid_o <= 1'b0;
      dram_ref_valid_o <= 1'b0;
      dram_cas_valid_o <= 1'b0;
    end else begin
      dram_act_valid_o <= activate;
      dram_pre_valid_o <= precharge;
      dram_ref_valid_o <= refresh;
      dram_cas_valid_o <= column;
    end
    dram_act_bank_o  <= activate_bank;
    dram_act_row_o   <= activate_row;
    dram_pre_bank_o  <= precharge_bank;
    dram_pre_all_o   <= precharge_all || timing_taken_o;
    dram_cas_write_o <= column_write;
    dram_cas_bank_o  <= column_bank;
    dram_cas_col_o   <= column_address;
    if (column && column_write) begin
      dram_wdata_o      <= issue_data;
      dram_wcheck_o     <= issue_check;
      dram_wlanes_o     <= issue_lanes;
      dram_wflips_o     <= issue_flips;
      dram_wflip_lane_o <= issue_flip_lane;
    end
  end

`ifdef DATUM_ASSERTIONS
  datum_dram_rules u_rules (
    .clk_i, .rst_ni, .timing_i,
    .act_valid_i(dram_act_valid_o),
    .act_bank_i (dram_act_bank_o),
    .pre_valid_i(dram_pre_valid_o),
    .pre_bank_i (dram_pre_bank_o),
    .pre_all_i  (dram_pre_all_o),
    .ref_valid_i(dram_ref_valid_o),
    .cas_valid_i(dram_cas_valid_o),
    .cas_write_i(dram_cas_write_o),
    .cas_bank_i (dram_cas_bank_o),
    .rvalid_i   (dram_rvalid_i)
  );
`endif
endmodule
