// Which commands the timing rules allow in this cycle, from the commands of the last cycles. Histories hold one bit a bank and cycle.
module datum_dram_timers
  import datum_dram_pkg::*;
#(
  parameter dram_timing_t Timing = Ddr4At300Mhz
) (
  input  logic                 clk_i,
  input  logic                 rst_ni,
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
  localparam int unsigned Rcd = int'(Timing.t_rcd);
  localparam int unsigned Ras = int'(Timing.t_ras);
  localparam int unsigned Rp = int'(Timing.t_rp);
  localparam int unsigned RrdL = int'(Timing.t_rrd_l);
  localparam int unsigned Faw = int'(Timing.t_faw);
  localparam int unsigned Wr = int'(Timing.t_wr);
  localparam int unsigned Rtp = int'(Timing.t_rtp);
  localparam int unsigned CcdL = int'(Timing.t_ccd_l);
  localparam int unsigned Wtr = int'(Timing.t_wtr);
  localparam int unsigned Rtw = int'(Timing.t_rtw);

  // Element k: the command that stood k + 1 cycles ago.
  logic [BankCount-1:0]     activates_q[Ras];
  logic [BankCount-1:0]     precharges_q[Rp];
  logic [BankCount-1:0]     reads_q[Rtp];
  logic [BankCount-1:0]     writes_q[Wr];
  logic [Faw-2:0]           any_activate_q;
  logic [Wtr-2:0]           any_write_q;
  logic [Rtw-2:0]           any_read_q;
  logic [2**GroupWidth-1:0] groups_q[CcdL];
  logic [2**GroupWidth-1:0] opened_groups_q[RrdL];

  logic [BankCount-1:0]     too_early_for_column;
  logic [BankCount-1:0]     too_early_for_precharge;
  logic [BankCount-1:0]     too_early_for_activate;
  logic [2**GroupWidth-1:0] group_of_now, opened_group_of_now;
  logic [2**GroupWidth-1:0] group_busy, group_opened;

  always_comb begin
    too_early_for_column    = '0;
    too_early_for_precharge = '0;
    too_early_for_activate  = '0;
    group_busy              = '0;
    group_opened            = '0;
    for (int unsigned k = 0; k + 1 < Rcd; k++) too_early_for_column |= activates_q[k];
    for (int unsigned k = 0; k + 1 < Ras; k++) too_early_for_precharge |= activates_q[k];
    for (int unsigned k = 0; k + 1 < Rtp; k++) too_early_for_precharge |= reads_q[k];
    for (int unsigned k = 0; k + 1 < Wr; k++) too_early_for_precharge |= writes_q[k];
    for (int unsigned k = 0; k + 1 < Rp; k++) too_early_for_activate |= precharges_q[k];
    for (int unsigned k = 0; k + 1 < CcdL; k++) group_busy |= groups_q[k];
    for (int unsigned k = 0; k + 1 < RrdL; k++) group_opened |= opened_groups_q[k];
    group_of_now        = '0;
    opened_group_of_now = '0;
    for (int unsigned b = 0; b < BankCount; b++) begin
      group_of_now[b[GroupWidth-1:0]]        |= read_i[b] | write_i[b];
      opened_group_of_now[b[GroupWidth-1:0]] |= activate_i[b];
    end
  end

  assign precharge_allowed_o = ~too_early_for_precharge;
  assign column_allowed_o    = ~(too_early_for_column | {(BankCount / 2 ** GroupWidth) {group_busy}});
  assign activate_allowed_o  = ~(too_early_for_activate | {(BankCount / 2 ** GroupWidth) {group_opened}})
                               & {BankCount{$countones(any_activate_q) < 4}};
  assign read_allowed_o      = any_write_q == '0;
  assign write_allowed_o     = any_read_q == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned k = 0; k < Ras; k++) activates_q[k] <= '0;
      for (int unsigned k = 0; k < Rp; k++) precharges_q[k] <= '0;
      for (int unsigned k = 0; k < Rtp; k++) reads_q[k] <= '0;
      for (int unsigned k = 0; k < Wr; k++) writes_q[k] <= '0;
      for (int unsigned k = 0; k < CcdL; k++) groups_q[k] <= '0;
      for (int unsigned k = 0; k < RrdL; k++) opened_groups_q[k] <= '0;
      any_activate_q <= '0;
      any_write_q    <= '0;
      any_read_q     <= '0;
    end else begin
      activates_q[0]  <= activate_i;
      precharges_q[0] <= precharge_i;
      reads_q[0]      <= read_i;
      writes_q[0]     <= write_i;
      groups_q[0]     <= group_of_now;
      opened_groups_q[0] <= opened_group_of_now;
      for (int unsigned k = 1; k < Ras; k++) activates_q[k] <= activates_q[k-1];
      for (int unsigned k = 1; k < Rp; k++) precharges_q[k] <= precharges_q[k-1];
      for (int unsigned k = 1; k < Rtp; k++) reads_q[k] <= reads_q[k-1];
      for (int unsigned k = 1; k < Wr; k++) writes_q[k] <= writes_q[k-1];
      for (int unsigned k = 1; k < CcdL; k++) groups_q[k] <= groups_q[k-1];
      for (int unsigned k = 1; k < RrdL; k++) opened_groups_q[k] <= opened_groups_q[k-1];
      any_activate_q <= (Faw - 1)'({any_activate_q, activate_i != '0});
      any_write_q    <= (Wtr - 1)'({any_write_q, write_i != '0});
      any_read_q     <= (Rtw - 1)'({any_read_q, read_i != '0});
    end
  end

  if (Rcd < 2 || Ras < 2 || Rp < 2 || RrdL < 2 || Faw < RrdL || Wr < 2 || Rtp < 2 || CcdL < 2 || Wtr < 2 || Rtw < 2) begin : gen_bad
    $error("a timing parameter is below what this controller is made for");
  end
endmodule
