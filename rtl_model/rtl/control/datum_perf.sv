// Free-running 64-bit counters of the perf block, in the order of its registers.
module datum_perf (
  input  logic        clk_i,
  input  logic        rst_ni,
  input  logic        host_read_i,
  input  logic        host_write_i,
  input  logic        dram_read_i,
  input  logic        dram_write_i,
  input  logic        dram_activate_i,
  input  logic        dram_refresh_i,
  input  logic [4:0]  tlb_hits_i,
  input  logic        walk_i,
  input  logic [3:0]  descriptors_i,
  input  logic        executing_i,
  input  logic [63:0] timer_i,
  input  logic [3:0]  index_i,
  output logic [63:0] value_o
);
  localparam int unsigned Counters = 11;
  localparam int unsigned Busy = 9;
  localparam int unsigned Stalled = 10;

  logic [63:0] counters_q[Counters];

  // What passed of the timer in the cycle before, if a channel was executing: the clock of an idle board may stand still, and the time that the timer
  // jumps over then is nobody's.
  logic        executing_q;
  logic [63:0] timer_q, busy_q;

  always_ff @(posedge clk_i) begin
    timer_q     <= timer_i;
    executing_q <= rst_ni && executing_i;
    busy_q      <= rst_ni && executing_q ? timer_i - timer_q : '0;
  end

  logic stalled;
  assign stalled = executing_i && !(host_read_i || host_write_i || dram_read_i || dram_write_i);

  assign value_o = index_i < 4'(Counters) ? counters_q[index_i] : '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned i = 0; i < Counters; i++) counters_q[i] <= '0;
    end else begin
      if (host_read_i) counters_q[0] <= counters_q[0] + 64'd1;
      if (host_write_i) counters_q[1] <= counters_q[1] + 64'd1;
      if (dram_read_i) counters_q[2] <= counters_q[2] + 64'd1;
      if (dram_write_i) counters_q[3] <= counters_q[3] + 64'd1;
      if (dram_activate_i) counters_q[4] <= counters_q[4] + 64'd1;
      if (dram_refresh_i) counters_q[5] <= counters_q[5] + 64'd1;
      if (tlb_hits_i != '0) counters_q[6] <= counters_q[6] + 64'(tlb_hits_i);
      if (walk_i) counters_q[7] <= counters_q[7] + 64'd1;
      if (descriptors_i != '0) counters_q[8] <= counters_q[8] + 64'(descriptors_i);
      if (stalled) counters_q[Stalled] <= counters_q[Stalled] + 64'd1;
      if (busy_q != '0) counters_q[Busy] <= counters_q[Busy] + busy_q;
    end
  end

`ifdef DATUM_ASSERTIONS
  logic [63:0] busy;
  assign busy = counters_q[Busy];

  busy_within_time: assert property (@(posedge clk_i) disable iff (!rst_ni) busy_q <= timer_q - $past(timer_q));
  idle_is_not_busy: assert property (@(posedge clk_i) disable iff (!rst_ni) !executing_q |=> busy_q == '0);
  busy_is_counted:  assert property (@(posedge clk_i) disable iff (!rst_ni)
                      1'b1 |=> busy - $past(busy) == $past(busy_q));
`endif
endmodule
