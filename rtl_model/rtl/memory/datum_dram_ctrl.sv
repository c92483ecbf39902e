// DRAM controller: AXI bursts of the fabric in, commands to the device out.
module datum_dram_ctrl
  import datum_pkg::*;
  import datum_dram_pkg::*;
#(
  parameter dram_timing_t Timing = Ddr4At300Mhz
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,

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
  output logic [DataBytes-1:0]   dram_wstrb_o,
  input  logic                   dram_rvalid_i,
  input  logic [DataWidth-1:0]   dram_rdata_i,

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
  logic [SlotWidth-1:0] column_slot;
  logic                 activate, precharge, precharge_all, refresh;
  logic [BankWidth-1:0] activate_bank, precharge_bank;
  logic [RowWidth-1:0]  activate_row;
  logic [DataWidth-1:0] issue_data;
  logic [DataBytes-1:0] issue_strb;
  logic                 read_idle, write_idle, ready;

  datum_dram_read_side u_read (
    .clk_i, .rst_ni, .arvalid_i, .arready_o, .ar_i, .rvalid_o, .rready_i, .r_o,
    .push_valid_o(read_push_valid),
    .push_ready_i(read_push_ready),
    .push_place_o(read_push_place),
    .push_slot_o (read_push_slot),
    .issue_i     (column && !column_write),
    .issue_slot_i(column_slot),
    .data_valid_i(dram_rvalid_i),
    .data_i      (dram_rdata_i),
    .idle_o      (read_idle)
  );

  datum_dram_write_side u_write (
    .clk_i, .rst_ni, .awvalid_i, .awready_o, .aw_i, .wvalid_i, .wready_o, .w_i, .bvalid_o, .bready_i, .b_o,
    .push_valid_o(write_push_valid),
    .push_ready_i(write_push_ready),
    .push_place_o(write_push_place),
    .push_slot_o (write_push_slot),
    .issue_i     (column && column_write),
    .issue_slot_i(column_slot),
    .issue_data_o(issue_data),
    .issue_strb_o(issue_strb),
    .idle_o      (write_idle)
  );

  datum_dram_bank_queue u_read_queue (
    .clk_i, .rst_ni,
    .push_valid_i(read_push_valid),
    .push_ready_o(read_push_ready),
    .push_place_i(read_push_place),
    .push_slot_i (read_push_slot),
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
    .push_slot_i (write_push_slot),
    .pop_i       (column && column_write),
    .pop_bank_i  (column_bank),
    .has_o       (write_has),
    .row_o       (write_row),
    .head_o      (write_head),
    .count_o     (write_count)
  );

  datum_dram_scheduler #(.Timing(Timing)) u_scheduler (
    .clk_i, .rst_ni,
    .read_has_i      (read_has),
    .read_row_i      (read_row),
    .read_head_i     (read_head),
    .read_count_i    (read_count),
    .write_has_i     (write_has),
    .write_row_i     (write_row),
    .write_head_i    (write_head),
    .write_count_i   (write_count),
    .column_o        (column),
    .column_write_o  (column_write),
    .column_bank_o   (column_bank),
    .column_address_o(column_address),
    .column_slot_o   (column_slot),
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
  assign idle_o  = ready && read_idle && write_idle && !dram_cas_valid_o;

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
    dram_pre_all_o   <= precharge_all;
    dram_cas_write_o <= column_write;
    dram_cas_bank_o  <= column_bank;
    dram_cas_col_o   <= column_address;
    if (column && column_write) begin
      dram_wdata_o <= issue_data;
      dram_wstrb_o <= issue_strb;
    end
  end

`ifdef DATUM_ASSERTIONS
  datum_dram_rules #(.Timing(Timing)) u_rules (
    .clk_i, .rst_ni,
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
