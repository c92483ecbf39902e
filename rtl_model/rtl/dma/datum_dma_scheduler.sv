// Gives rings that are ready to channels that are free: rings in turn, the lowest free channel first.
module datum_dma_scheduler
  import datum_pkg::*;
#(
  parameter int unsigned ChannelCount = 4
) (
  input  logic                      clk_i,
  input  logic                      rst_ni,
  input  logic [3:0]                channel_enable_i,

  input  logic [63:0]               eligible_i,
  input  logic [ChannelCount-1:0]   free_i,
  output logic [ChannelCount-1:0]   enabled_o,
  output logic [ChannelCount-1:0]   bind_o,         // the channel takes ring_o
  output logic                      bind_any_o,
  output logic [RingWidth-1:0]      ring_o
);
  logic [63:0]              behind_q;     // rings behind the one served last
  logic [63:0]              candidates, chosen;
  logic [ChannelCount-1:0]  usable;

  // At least one channel works whatever software wrote.
  for (genvar c = 0; c < ChannelCount; c++) begin : g_enabled
    assign enabled_o[c] = c == 0 || 4'(c) < channel_enable_i;
  end

  assign usable     = free_i & enabled_o;
  assign candidates = (eligible_i & behind_q) != '0 ? eligible_i & behind_q : eligible_i;
  assign chosen     = candidates & (~candidates + 1'b1);
  assign ring_o     = {|(chosen & 64'hffffffff00000000), |(chosen & 64'hffff0000ffff0000), |(chosen & 64'hff00ff00ff00ff00),
                       |(chosen & 64'hf0f0f0f0f0f0f0f0), |(chosen & 64'hcccccccccccccccc), |(chosen & 64'haaaaaaaaaaaaaaaa)};
  assign bind_any_o = eligible_i != '0 && usable != '0;
  assign bind_o     = eligible_i != '0 ? usable & (~usable + 1'b1) : '0;

  always_ff @(posedge clk_i) begin
    if (bind_any_o) behind_q <= ~(chosen | (chosen - 1'b1));
    if (!rst_ni) behind_q <= '0;
  end
endmodule
