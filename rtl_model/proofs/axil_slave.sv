// datum_axil_slave: registers over AXI4-Lite, one access at a time.
//
//   - Each access is answered once, after it was made; answers stay until they are taken, with the data that the register gave.
//   - A request stays, with address and data, until it is done; there is none for a write that does not cover its word.
//   - Reads and writes wait for one another, so that a read sees the writes before it.
// fault rtl/control/datum_axil_slave.sv: "drop_q    <= take_write && s_axil_wstrb_i != '1" becomes "drop_q    <= 1'b0"
// fault rtl/control/datum_axil_slave.sv: "free       = !request_q && !s_axil_bvalid_o && !s_axil_rvalid_o" becomes "free       = !request_q && !s_axil_bvalid_o"
`include "proofs.svh"

module axil_slave_proof (
  input logic        clk_i,
  input logic        rst_ni,
  input logic [18:0] awaddr_i,
  input logic        awvalid_i,
  input logic [31:0] wdata_i,
  input logic [3:0]  wstrb_i,
  input logic        wvalid_i,
  input logic        bready_i,
  input logic [18:0] araddr_i,
  input logic        arvalid_i,
  input logic        rready_i,
  input logic        done_i,
  input logic [31:0] rdata_i
);
  logic        awready, wready, bvalid, arready, rvalid, request, write, idle;
  logic [1:0]  bresp, rresp;
  logic [31:0] rdata, wdata;
  logic [18:0] address;

  datum_axil_slave dut (
    .clk_i, .rst_ni, .s_axil_awaddr_i(awaddr_i), .s_axil_awvalid_i(awvalid_i), .s_axil_awready_o(awready), .s_axil_wdata_i(wdata_i),
    .s_axil_wstrb_i(wstrb_i), .s_axil_wvalid_i(wvalid_i), .s_axil_wready_o(wready), .s_axil_bresp_o(bresp), .s_axil_bvalid_o(bvalid),
    .s_axil_bready_i(bready_i), .s_axil_araddr_i(araddr_i), .s_axil_arvalid_i(arvalid_i), .s_axil_arready_o(arready), .s_axil_rdata_o(rdata),
    .s_axil_rresp_o(rresp), .s_axil_rvalid_o(rvalid), .s_axil_rready_i(rready_i),
    .request_o(request), .write_o(write), .address_o(address), .wdata_o(wdata), .done_i, .rdata_i, .idle_o(idle)
  );

  `RESET_FIRST

  // The access that was taken and not yet answered.
  logic        write_q, read_q, whole_q, made_q;
  logic [18:0] address_q;
  logic [31:0] data_q, given_q;
  logic        b_waited_q, r_waited_q;
  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      write_q    <= 1'b0;
      read_q     <= 1'b0;
      b_waited_q <= 1'b0;
      r_waited_q <= 1'b0;
    end else begin
      if (awvalid_i && awready) write_q <= 1'b1;
      else if (bvalid && bready_i) write_q <= 1'b0;
      if (arvalid_i && arready) read_q <= 1'b1;
      else if (rvalid && rready_i) read_q <= 1'b0;
      b_waited_q <= bvalid && !bready_i;
      r_waited_q <= rvalid && !rready_i;
    end
    if (awvalid_i && awready) begin
      address_q <= awaddr_i;
      data_q    <= wdata_i;
      whole_q   <= wstrb_i == '1;
      made_q    <= 1'b0;
    end else if (arvalid_i && arready) begin
      address_q <= araddr_i;
      whole_q   <= 1'b1;
      made_q    <= 1'b0;
    end else if (request && done_i) begin
      made_q  <= 1'b1;
      given_q <= rdata_i;
    end
  end

  logic unused_idle;
  assign unused_idle = idle;

  `PROVE(address_and_data_together, awready == wready && (!awready || (awvalid_i && wvalid_i)))
  `PROVE(one_access_at_a_time, !started_q || !rst_ni || !((awvalid_i && awready) || (arvalid_i && arready)) || !(write_q || read_q))
  `PROVE(never_both, !started_q || !(write_q && read_q))
  `PROVE(a_request_is_of_an_access, !started_q || !request || ((write_q || read_q) && whole_q && !made_q && write == write_q))
  `PROVE(it_stays_as_it_is, !started_q || !request || (address == address_q && (!write || wdata == data_q)))
  `PROVE(answers_follow_accesses, !started_q || ((!bvalid || write_q) && (!rvalid || read_q)))
  `PROVE(answers_follow_requests, !started_q || ((!bvalid || made_q || !whole_q) && (!rvalid || made_q)))
  `PROVE(an_access_is_asked_or_answered, !started_q || !(write_q || read_q) || dut.request_q != (bvalid || rvalid))
  `PROVE(data_is_what_was_given, !started_q || !rvalid || rdata == given_q)
  `PROVE(answers_stay, !started_q || !rst_ni || ((!b_waited_q || bvalid) && (!r_waited_q || rvalid)))
  `PROVE(all_is_well, bresp == '0 && rresp == '0)
  `PROVE(dropped_ones_are_known, !started_q || !dut.request_q || dut.drop_q == !whole_q)
endmodule
