// The subordinate behind all addresses that lead nowhere: takes everything and answers DECERR.
module datum_fabric_refuser
  import datum_pkg::*;
(
  input  logic       clk_i,
  input  logic       rst_ni,
  input  logic       awvalid_i,
  output logic       awready_o,
  input  fabric_ax_t aw_i,
  input  logic       wvalid_i,
  output logic       wready_o,
  input  axi_w_t     w_i,
  output logic       bvalid_o,
  input  logic       bready_i,
  output fabric_b_t  b_o,
  input  logic       arvalid_i,
  output logic       arready_o,
  input  fabric_ax_t ar_i,
  output logic       rvalid_o,
  input  logic       rready_i,
  output fabric_r_t  r_o
);
  logic       answering_q;   // the data is here, the answer is due
  logic [3:0] beat_q;
  logic       unused_payload;

  assign unused_payload = ^{w_i.data, w_i.strb, aw_i.addr, aw_i.len, ar_i.addr};

  assign wready_o  = awvalid_i && !answering_q;
  assign bvalid_o  = answering_q;
  assign awready_o = answering_q && bready_i;
  assign b_o       = '{id: aw_i.id, resp: AxiDecErr};

  assign rvalid_o  = arvalid_i;
  assign r_o       = '{id: ar_i.id, data: '1, resp: AxiDecErr, last: beat_q == ar_i.len};
  assign arready_o = rvalid_o && rready_i && r_o.last;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      answering_q <= 1'b0;
      beat_q      <= '0;
    end else begin
      if (wvalid_i && wready_o && w_i.last) answering_q <= 1'b1;
      else if (bvalid_o && bready_i) answering_q <= 1'b0;
      if (rvalid_o && rready_i) beat_q <= r_o.last ? '0 : beat_q + 1'b1;
    end
  end
endmodule
