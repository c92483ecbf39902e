// AXI4-Lite slave for one access at a time, writes before reads: a valid/ready request with a pulse for its answer.
// A write that does not cover its word is answered and dropped: registers are written by whole words.
module datum_axil_slave #(
  parameter int unsigned AddressWidth = 19
) (
  input  logic                    clk_i,
  input  logic                    rst_ni,

  input  logic [AddressWidth-1:0] s_axil_awaddr_i,
  input  logic                    s_axil_awvalid_i,
  output logic                    s_axil_awready_o,
  input  logic [31:0]             s_axil_wdata_i,
  input  logic [3:0]              s_axil_wstrb_i,
  input  logic                    s_axil_wvalid_i,
  output logic                    s_axil_wready_o,
  output logic [1:0]              s_axil_bresp_o,
  output logic                    s_axil_bvalid_o,
  input  logic                    s_axil_bready_i,
  input  logic [AddressWidth-1:0] s_axil_araddr_i,
  input  logic                    s_axil_arvalid_i,
  output logic                    s_axil_arready_o,
  output logic [31:0]             s_axil_rdata_o,
  output logic [1:0]              s_axil_rresp_o,
  output logic                    s_axil_rvalid_o,
  input  logic                    s_axil_rready_i,

  output logic                    request_o,        // stays with the rest until done_i
  output logic                    write_o,
  output logic [AddressWidth-1:0] address_o,
  output logic [31:0]             wdata_o,
  input  logic                    done_i,
  input  logic [31:0]             rdata_i,          // with done_i

  output logic                    idle_o
);
  logic                    request_q, write_q, drop_q;
  logic [AddressWidth-1:0] address_q;
  logic [31:0]             data_q;
  logic                    free, take_write, take_read, done;

  assign free       = !request_q && !s_axil_bvalid_o && !s_axil_rvalid_o;
  assign take_write = free && s_axil_awvalid_i && s_axil_wvalid_i;
  assign take_read  = free && s_axil_arvalid_i && !take_write;
  assign done       = request_q && (done_i || drop_q);

  assign s_axil_awready_o = take_write;
  assign s_axil_wready_o  = take_write;
  assign s_axil_arready_o = take_read;
  assign s_axil_bresp_o   = '0;
  assign s_axil_rresp_o   = '0;
  assign request_o        = request_q && !drop_q;
  assign write_o          = write_q;
  assign address_o        = address_q;
  assign wdata_o          = data_q;
  assign idle_o           = free && !s_axil_awvalid_i && !s_axil_wvalid_i && !s_axil_arvalid_i;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      request_q       <= 1'b0;
      s_axil_bvalid_o <= 1'b0;
      s_axil_rvalid_o <= 1'b0;
    end else begin
      if (take_write || take_read) request_q <= 1'b1;
      else if (done) request_q <= 1'b0;
      if (done && write_q) s_axil_bvalid_o <= 1'b1;
      else if (s_axil_bready_i) s_axil_bvalid_o <= 1'b0;
      if (done && !write_q) s_axil_rvalid_o <= 1'b1;
      else if (s_axil_rready_i) s_axil_rvalid_o <= 1'b0;
    end
    if (take_write || take_read) begin
      write_q   <= take_write;
      drop_q    <= take_write && s_axil_wstrb_i != '1;
      address_q <= take_write ? s_axil_awaddr_i : s_axil_araddr_i;
      data_q    <= s_axil_wdata_i;
    end
    if (done) s_axil_rdata_o <= rdata_i;
  end
endmodule
