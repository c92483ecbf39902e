// Counts the bytes that the board writes to host memory.
//
//   0x0 ID      ro  0x5245544d
//   0x4 CONTROL rw  bit 0: counts; bit 1: written as 1, the count begins at 0 again
//   0x8 BYTES   ro  64 bits, to be read low half first
module my_traffic_meter (
  input  logic        clk_i,
  input  logic        rst_ni,

  input  logic [11:0] s_axil_awaddr_i,
  input  logic        s_axil_awvalid_i,
  output logic        s_axil_awready_o,
  input  logic [31:0] s_axil_wdata_i,
  input  logic [3:0]  s_axil_wstrb_i,
  input  logic        s_axil_wvalid_i,
  output logic        s_axil_wready_o,
  output logic [1:0]  s_axil_bresp_o,
  output logic        s_axil_bvalid_o,
  input  logic        s_axil_bready_i,
  input  logic [11:0] s_axil_araddr_i,
  input  logic        s_axil_arvalid_i,
  output logic        s_axil_arready_o,
  output logic [31:0] s_axil_rdata_o,
  output logic [1:0]  s_axil_rresp_o,
  output logic        s_axil_rvalid_o,
  input  logic        s_axil_rready_i,

  input  logic        beat_i,       // data goes to the host, in the bytes of strobes_i
  input  logic [63:0] strobes_i,

  output logic        idle_o
);
  localparam logic [31:0] Id = 32'h5245544d;
  localparam logic [11:0] IdOffset = 12'h0, ControlOffset = 12'h4, LowOffset = 12'h8, HighOffset = 12'hc;

  logic        request, write;
  logic [11:0] address;
  logic [31:0] wdata, rdata, high_q;
  logic        counts_q;
  logic [63:0] bytes_q;

  datum_axil_slave #(.AddressWidth(12)) u_slave (
    .*, .request_o(request), .write_o(write), .address_o(address), .wdata_o(wdata), .done_i(request), .rdata_i(rdata)
  );

  always_comb begin
    unique case (address)
      IdOffset:      rdata = Id;
      ControlOffset: rdata = 32'(counts_q);
      LowOffset:     rdata = bytes_q[31:0];
      HighOffset:    rdata = high_q;
      default:       rdata = '0;
    endcase
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      counts_q <= 1'b0;
      bytes_q  <= '0;
      high_q   <= '0;
    end else begin
      if (counts_q && beat_i) bytes_q <= bytes_q + 64'($countones(strobes_i));
      if (request && write && address == ControlOffset) begin
        counts_q <= wdata[0];
        if (wdata[1]) bytes_q <= '0;
      end
      if (request && !write && address == LowOffset) high_q <= bytes_q[63:32];
    end
  end
endmodule
