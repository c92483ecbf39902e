// The timing rules of the DRAM as assertions on the command port, by ages of commands: independent of how the controller keeps them.
module datum_dram_rules
  import datum_dram_pkg::*;
(
  input logic                 clk_i,
  input logic                 rst_ni,
  input dram_timing_t         timing_i,     // as it was programmed; in effect behind the refresh that says so
  input logic                 act_valid_i,
  input logic [BankWidth-1:0] act_bank_i,
  input logic                 pre_valid_i,
  input logic [BankWidth-1:0] pre_bank_i,
  input logic                 pre_all_i,
  input logic                 ref_valid_i,
  input logic                 cas_valid_i,
  input logic                 cas_write_i,
  input logic [BankWidth-1:0] cas_bank_i,
  input logic                 rvalid_i
);
  localparam logic [11:0] Old = '1;  // ages stop growing here

  // Cycles since the last command of the kind.
  logic [11:0]                   act_age_q[BankCount];
  logic [11:0]                   pre_age_q[BankCount];
  logic [11:0]                   read_age_q[BankCount];
  logic [11:0]                   write_age_q[BankCount];
  logic [11:0]                   any_act_age_q[4];     // the last four activates
  logic [11:0]                   group_age_q[2**GroupWidth];
  logic [11:0]                   group_act_age_q[2**GroupWidth];
  logic [11:0]                   any_read_age_q, any_write_age_q, ref_age_q;
  logic [BankCount-1:0]          open_q;
  logic [int'(MostTiming.t_cl)-1:0] reads_q; // bit k: data is due k cycles from now
  dram_timing_t                  timing_q, programmed_q;

  function automatic logic [11:0] older(input logic [11:0] age);
    return age == Old ? Old : age + 1'b1;
  endfunction

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned b = 0; b < BankCount; b++) begin
        act_age_q[b]   <= Old;
        pre_age_q[b]   <= Old;
        read_age_q[b]  <= Old;
        write_age_q[b] <= Old;
      end
      for (int unsigned k = 0; k < 4; k++) any_act_age_q[k] <= Old;
      for (int unsigned g = 0; g < 2 ** GroupWidth; g++) begin
        group_age_q[g]     <= Old;
        group_act_age_q[g] <= Old;
      end
      any_read_age_q  <= Old;
      any_write_age_q <= Old;
      ref_age_q       <= Old;
      open_q          <= '0;
      reads_q         <= '0;
      timing_q        <= Ddr4At300Mhz;
    end else begin
      for (int unsigned b = 0; b < BankCount; b++) begin
        act_age_q[b]   <= act_valid_i && act_bank_i == BankWidth'(b) ? 12'd1 : older(act_age_q[b]);
        pre_age_q[b]   <= pre_valid_i && (pre_all_i || pre_bank_i == BankWidth'(b)) ? 12'd1 : older(pre_age_q[b]);
        read_age_q[b]  <= cas_valid_i && !cas_write_i && cas_bank_i == BankWidth'(b) ? 12'd1 : older(read_age_q[b]);
        write_age_q[b] <= cas_valid_i && cas_write_i && cas_bank_i == BankWidth'(b) ? 12'd1 : older(write_age_q[b]);
      end
      for (int unsigned k = 0; k < 4; k++) begin
        if (act_valid_i) any_act_age_q[k] <= k == 0 ? 12'd1 : older(any_act_age_q[k-1]);
        else any_act_age_q[k] <= older(any_act_age_q[k]);
      end
      for (int unsigned g = 0; g < 2 ** GroupWidth; g++) begin
        group_age_q[g]     <= cas_valid_i && cas_bank_i[GroupWidth-1:0] == GroupWidth'(g) ? 12'd1 : older(group_age_q[g]);
        group_act_age_q[g] <= act_valid_i && act_bank_i[GroupWidth-1:0] == GroupWidth'(g) ? 12'd1 : older(group_act_age_q[g]);
      end
      any_read_age_q  <= cas_valid_i && !cas_write_i ? 12'd1 : older(any_read_age_q);
      any_write_age_q <= cas_valid_i && cas_write_i ? 12'd1 : older(any_write_age_q);
      ref_age_q       <= ref_valid_i ? 12'd1 : older(ref_age_q);
      if (act_valid_i) open_q[act_bank_i] <= 1'b1;
      if (pre_valid_i && pre_all_i) open_q <= '0;
      else if (pre_valid_i) open_q[pre_bank_i] <= 1'b0;
      reads_q <= reads_q >> 1;
      if (cas_valid_i && !cas_write_i) reads_q[timing_q.t_cl-1] <= 1'b1;
      if (ref_valid_i && pre_all_i && !pre_valid_i) timing_q <= programmed_q;
    end
    programmed_q <= timing_i;   // when the command was chosen
  end

  logic [11:0] act_age_of_cas, pre_age_of_act, group_age_of_cas, group_age_of_act, fourth_act_age;
  assign act_age_of_cas   = act_age_q[cas_bank_i];
  assign pre_age_of_act   = pre_age_q[act_bank_i];
  assign group_age_of_cas = group_age_q[cas_bank_i[GroupWidth-1:0]];

  assign group_age_of_act = group_act_age_q[act_bank_i[GroupWidth-1:0]];
  assign fourth_act_age   = any_act_age_q[3];

  logic unused_refi;
  assign unused_refi = ^timing_q.t_refi;

  default clocking @(posedge clk_i); endclocking

  act_on_closed: assert property (disable iff (!rst_ni) act_valid_i |-> !open_q[act_bank_i]);
  cas_on_open: assert property (disable iff (!rst_ni) cas_valid_i |-> open_q[cas_bank_i]);
  t_rcd: assert property (disable iff (!rst_ni) cas_valid_i |-> act_age_of_cas >= 12'(timing_q.t_rcd));
  t_rp: assert property (disable iff (!rst_ni) act_valid_i |-> pre_age_of_act >= 12'(timing_q.t_rp));
  t_rfc: assert property (disable iff (!rst_ni) act_valid_i || ref_valid_i |-> ref_age_q >= timing_q.t_rfc);
  t_rrd_l: assert property (disable iff (!rst_ni) act_valid_i |-> group_age_of_act >= 12'(timing_q.t_rrd_l));
  t_faw: assert property (disable iff (!rst_ni) act_valid_i |-> fourth_act_age >= 12'(timing_q.t_faw));
  t_ccd_l: assert property (disable iff (!rst_ni) cas_valid_i |-> group_age_of_cas >= 12'(timing_q.t_ccd_l));
  t_wtr: assert property (disable iff (!rst_ni) cas_valid_i && !cas_write_i |-> any_write_age_q >= 12'(timing_q.t_wtr));
  t_rtw: assert property (disable iff (!rst_ni) cas_valid_i && cas_write_i |-> any_read_age_q >= 12'(timing_q.t_rtw));
  refresh_closed: assert property (disable iff (!rst_ni) ref_valid_i |-> open_q == '0);
  t_cl: assert property (disable iff (!rst_ni) rvalid_i == reads_q[0]);

  // Precharge: each bank that is open and closed by the command.
  for (genvar b = 0; b < BankCount; b++) begin : gen_precharge
    logic        closes;
    logic [11:0] act_age, read_age, write_age, pre_age;
    assign closes = pre_valid_i && open_q[b] && (pre_all_i || pre_bank_i == BankWidth'(b));
    assign act_age   = act_age_q[b];
    assign read_age  = read_age_q[b];
    assign write_age = write_age_q[b];
    assign pre_age   = pre_age_q[b];
    t_ras: assert property (disable iff (!rst_ni) closes |-> act_age >= 12'(timing_q.t_ras));
    t_rtp: assert property (disable iff (!rst_ni) closes |-> read_age >= 12'(timing_q.t_rtp));
    t_wr: assert property (disable iff (!rst_ni) closes |-> write_age >= 12'(timing_q.t_wr));
    refresh_after_t_rp: assert property (disable iff (!rst_ni) ref_valid_i |-> pre_age >= 12'(timing_q.t_rp));
  end
endmodule
