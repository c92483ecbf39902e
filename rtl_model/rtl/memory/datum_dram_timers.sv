// Which commands the timing rules allow in this cycle, from the commands of the last cycles. Element k of an array: the banks, or groups, that
// are still blocked k cycles from now; a command blocks as many elements as its rule has cycles, less one.
module datum_dram_timers
  import datum_dram_pkg::*;
(
  input  logic                 clk_i,
  input  logic                 rst_ni,
  input  dram_timing_t         timing_i,      // changes only while nothing is blocked
  // Commands of this cycle, one-hot by bank.
  input  logic [BankCount-1:0] activate_i,
  input  logic [BankCount-1:0] precharge_i,
  input  logic [BankCount-1:0] read_i,
  input  logic [BankCount-1:0] write_i,
  // What may be issued in this cycle as far as earlier commands are concerned.
  output logic [BankCount-1:0] activate_allowed_o,
  output logic [BankCount-1:0] precharge_allowed_o,
  output logic [BankCount-1:0] column_allowed_o,
  output logic                 read_allowed_o,
  output logic                 write_allowed_o
);
  localparam int unsigned Groups = 2 ** GroupWidth;
  localparam int unsigned ColumnDepth = int'(MostTiming.t_rcd) - 1;
  localparam int unsigned PrechargeDepth = (int'(MostTiming.t_wr) > int'(MostTiming.t_ras) ? int'(MostTiming.t_wr) : int'(MostTiming.t_ras)) - 1;
  localparam int unsigned ActivateDepth = int'(MostTiming.t_rp) - 1;
  localparam int unsigned GroupDepth = int'(MostTiming.t_ccd_l) - 1;
  localparam int unsigned OpenedDepth = int'(MostTiming.t_rrd_l) - 1;
  localparam int unsigned ReadDepth = int'(MostTiming.t_wtr) - 1;
  localparam int unsigned WriteDepth = int'(MostTiming.t_rtw) - 1;
  localparam int unsigned WindowDepth = int'(MostTiming.t_faw) - 1;

  logic [BankCount-1:0]   column_q[ColumnDepth];
  logic [BankCount-1:0]   precharge_q[PrechargeDepth];
  logic [BankCount-1:0]   activate_q[ActivateDepth];
  logic [Groups-1:0]      group_q[GroupDepth];
  logic [Groups-1:0]      opened_q[OpenedDepth];
  logic [ReadDepth-1:0]   read_q;
  logic [WriteDepth-1:0]  write_q;
  logic [WindowDepth-1:0] window_q;               // bit k: an activate k + 1 cycles ago

  logic [Groups-1:0] group_of_now, opened_group_of_now;
  logic [31:0]       rcd, ras, rtp, wr, rp, ccd_l, rrd_l, wtr, rtw, faw;

  // Bit k: a rule of so many cycles still blocks k cycles after the next one.
  function automatic logic [31:0] blocks(input logic [7:0] cycles);
    return (32'd1 << (cycles - 8'd1)) - 32'd1;
  endfunction

  assign rcd   = blocks(timing_i.t_rcd);
  assign ras   = blocks(timing_i.t_ras);
  assign rtp   = blocks(timing_i.t_rtp);
  assign wr    = blocks(timing_i.t_wr);
  assign rp    = blocks(timing_i.t_rp);
  assign ccd_l = blocks(timing_i.t_ccd_l);
  assign rrd_l = blocks(timing_i.t_rrd_l);
  assign wtr   = blocks(timing_i.t_wtr);
  assign rtw   = blocks(timing_i.t_rtw);
  assign faw   = blocks(8'(timing_i.t_faw));

  always_comb begin
    group_of_now        = '0;
    opened_group_of_now = '0;
    for (int unsigned b = 0; b < BankCount; b++) begin
      group_of_now[b[GroupWidth-1:0]]        |= read_i[b] | write_i[b];
      opened_group_of_now[b[GroupWidth-1:0]] |= activate_i[b];
    end
  end

  assign precharge_allowed_o = ~precharge_q[0];
  assign column_allowed_o    = ~(column_q[0] | {(BankCount / Groups) {group_q[0]}});
  assign activate_allowed_o  = ~(activate_q[0] | {(BankCount / Groups) {opened_q[0]}})
                               & {BankCount{$countones(window_q & faw[WindowDepth-1:0]) < 4}};
  assign read_allowed_o      = !read_q[0];
  assign write_allowed_o     = !write_q[0];

  always_ff @(posedge clk_i) begin
    for (int unsigned k = 0; k < ColumnDepth; k++)
      column_q[k] <= (k + 1 < ColumnDepth ? column_q[(k+1)%ColumnDepth] : '0) | (rcd[k] ? activate_i : '0);
    for (int unsigned k = 0; k < PrechargeDepth; k++)
      precharge_q[k] <= (k + 1 < PrechargeDepth ? precharge_q[(k+1)%PrechargeDepth] : '0) | (ras[k] ? activate_i : '0) | (rtp[k] ? read_i : '0)
                        | (wr[k] ? write_i : '0);
    for (int unsigned k = 0; k < ActivateDepth; k++)
      activate_q[k] <= (k + 1 < ActivateDepth ? activate_q[(k+1)%ActivateDepth] : '0) | (rp[k] ? precharge_i : '0);
    for (int unsigned k = 0; k < GroupDepth; k++)
      group_q[k] <= (k + 1 < GroupDepth ? group_q[(k+1)%GroupDepth] : '0) | (ccd_l[k] ? group_of_now : '0);
    for (int unsigned k = 0; k < OpenedDepth; k++)
      opened_q[k] <= (k + 1 < OpenedDepth ? opened_q[(k+1)%OpenedDepth] : '0) | (rrd_l[k] ? opened_group_of_now : '0);
    read_q   <= (read_q >> 1) | (write_i != '0 ? wtr[ReadDepth-1:0] : '0);
    write_q  <= (write_q >> 1) | (read_i != '0 ? rtw[WriteDepth-1:0] : '0);
    window_q <= {window_q[WindowDepth-2:0], activate_i != '0};
    if (!rst_ni) begin
      for (int unsigned k = 0; k < ColumnDepth; k++) column_q[k] <= '0;
      for (int unsigned k = 0; k < PrechargeDepth; k++) precharge_q[k] <= '0;
      for (int unsigned k = 0; k < ActivateDepth; k++) activate_q[k] <= '0;
      for (int unsigned k = 0; k < GroupDepth; k++) group_q[k] <= '0;
      for (int unsigned k = 0; k < OpenedDepth; k++) opened_q[k] <= '0;
      read_q   <= '0;
      write_q  <= '0;
      window_q <= '0;
    end
  end

  logic unused_bits;
  assign unused_bits = ^{timing_i, rcd, ras, rtp, wr, rp, ccd_l, rrd_l, wtr, rtw, faw};
endmodule
