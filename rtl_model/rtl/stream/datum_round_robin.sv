// Round-robin choice of one request: the first at or after the position behind the last one that was taken.
module datum_round_robin #(
  parameter int unsigned Count = 4,
  localparam int unsigned IndexWidth = Count > 1 ? $clog2(Count) : 1
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic [Count-1:0]       request_i,
  input  logic                   take_i,     // the choice of this cycle is used
  output logic                   any_o,
  output logic [IndexWidth-1:0]  index_o,
  output logic [Count-1:0]       grant_o     // one-hot, or zero
);
  logic [Count-1:0] behind_q;  // requests that stand behind the last one taken
  logic [Count-1:0] first;
  logic [Count-1:0] preferred;

  assign any_o = request_i != '0;

  always_comb begin
    preferred = request_i & behind_q;
    first     = preferred != '0 ? preferred : request_i;
    grant_o   = first & (~first + 1'b1);
    index_o   = '0;
    for (int unsigned i = 0; i < Count; i++) if (grant_o[i]) index_o |= IndexWidth'(i);
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) behind_q <= '1;
    else if (take_i && any_o) behind_q <= ~(grant_o | (grant_o - 1'b1));
  end

  grant_is_one_hot: assert property (@(posedge clk_i) disable iff (!rst_ni) $onehot0(grant_o) && (grant_o & ~request_i) == '0);
endmodule
