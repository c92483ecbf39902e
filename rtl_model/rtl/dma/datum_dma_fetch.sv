// Fetches descriptors for the channels over one read port: bursts in turn, answers by identifier.
module datum_dma_fetch
  import datum_pkg::*;
#(
  parameter int unsigned ChannelCount = 4
) (
  input  logic                            clk_i,
  input  logic                            rst_ni,
  input  logic                            drain_i,
  output logic                            idle_o,

  input  logic [ChannelCount-1:0]         req_valid_i,
  input  logic [ChannelCount-1:0][PaWidth-1:0] req_address_i,
  input  logic [ChannelCount-1:0][3:0]    req_len_i,      // descriptors - 1
  output logic [ChannelCount-1:0]         req_ready_o,
  output logic [ChannelCount-1:0]         rsp_valid_o,    // r_i.data and r_i.resp are the channel's

  output logic                            arvalid_o,
  output axi_ax_t                         ar_o,
  input  logic                            arready_i,
  input  logic                            rvalid_i,
  input  axi_r_t                          r_i,
  output logic                            rready_o
);
  localparam int unsigned CountWidth = 12;
  localparam int unsigned IndexWidth = ChannelCount > 1 ? $clog2(ChannelCount) : 1;

  logic [CountWidth-1:0]    outstanding_q;
  logic [ChannelCount-1:0]  turn_q;         // channels behind the one served last
  logic [ChannelCount-1:0]  candidates, chosen;
  logic                     free, issue;
  logic [IndexWidth-1:0]    index;

  assign free        = !arvalid_o || arready_i;
  assign candidates  = (req_valid_i & turn_q) != '0 ? req_valid_i & turn_q : req_valid_i;
  assign chosen      = candidates & (~candidates + 1'b1);
  assign issue       = free && !drain_i && req_valid_i != '0;
  assign req_ready_o = issue ? chosen : '0;
  assign idle_o      = outstanding_q == '0;
  assign rready_o    = 1'b1;

  always_comb begin
    index = '0;
    for (int unsigned c = 0; c < ChannelCount; c++) if (chosen[c]) index = IndexWidth'(c);
  end
  for (genvar c = 0; c < ChannelCount; c++) begin : g_answer
    assign rsp_valid_o[c] = rvalid_i && outstanding_q != '0 && r_i.id == ManagerIdWidth'(c);
  end

  logic unused_data;
  assign unused_data = ^{r_i.data, r_i.resp};

  always_ff @(posedge clk_i) begin
    if (arready_i) arvalid_o <= 1'b0;
    if (issue) begin
      arvalid_o <= 1'b1;
      ar_o      <= '{id: ManagerIdWidth'(index), addr: '{target: TargetHost, address: req_address_i[index]}, len: req_len_i[index]};
      turn_q    <= ~(chosen | (chosen - 1'b1));
    end
    outstanding_q <= outstanding_q + CountWidth'(issue) - CountWidth'(rvalid_i && r_i.last && outstanding_q != '0);
    if (!rst_ni) begin
      arvalid_o     <= 1'b0;
      turn_q        <= '0;
      outstanding_q <= '0;
    end
  end

  address_stays: assert property (@(posedge clk_i) disable iff (!rst_ni) arvalid_o && !arready_i |=> arvalid_o && $stable(ar_o));
  inside_page:   assert property (@(posedge clk_i) disable iff (!rst_ni)
                   arvalid_o |-> {1'b0, ar_o.addr.address[11:6]} + {3'b0, ar_o.len} < 7'd64);
endmodule
