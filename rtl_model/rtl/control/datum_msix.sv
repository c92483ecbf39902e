// MSI-X: table and pending bits (BAR4), and the messages: 32-bit writes to the host, one at a time, each answered before the next one.
module datum_msix
  import datum_pkg::*;
#(
  parameter int unsigned Vectors = 66,
  localparam int unsigned VectorWidth = 7
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   clear_i,           // reset of the board: pending vectors are dropped, the table stays

  input  logic                   irq_valid_i,
  input  logic [VectorWidth-1:0] irq_vector_i,
  output logic                   irq_ready_o,

  input  logic [12:0]            s_axil_awaddr_i,
  input  logic                   s_axil_awvalid_i,
  output logic                   s_axil_awready_o,
  input  logic [31:0]            s_axil_wdata_i,
  input  logic [3:0]             s_axil_wstrb_i,
  input  logic                   s_axil_wvalid_i,
  output logic                   s_axil_wready_o,
  output logic [1:0]             s_axil_bresp_o,
  output logic                   s_axil_bvalid_o,
  input  logic                   s_axil_bready_i,
  input  logic [12:0]            s_axil_araddr_i,
  input  logic                   s_axil_arvalid_i,
  output logic                   s_axil_arready_o,
  output logic [31:0]            s_axil_rdata_o,
  output logic [1:0]             s_axil_rresp_o,
  output logic                   s_axil_rvalid_o,
  input  logic                   s_axil_rready_i,

  output logic                   awvalid_o,
  input  logic                   awready_i,
  output axi_ax_t                aw_o,
  output logic                   wvalid_o,
  input  logic                   wready_i,
  output axi_w_t                 w_o,
  input  logic                   bvalid_i,
  output logic                   bready_o,
  input  axi_b_t                 b_i,

  output logic                   idle_o
);
  localparam logic [12:0] TableBytes = 13'(16 * Vectors);
  localparam logic [12:0] PendingStart = 13'h1000;

  logic [31:0]            address_low_q[Vectors];
  logic [31:0]            address_high_q[Vectors];
  logic [31:0]            data_q[Vectors];
  logic [Vectors-1:0]     masked_q, pending_q;

  // Memories of the table are zero when the device is configured.
  initial begin
    for (int unsigned v = 0; v < Vectors; v++) begin
      address_low_q[v]  = '0;
      address_high_q[v] = '0;
      data_q[v]         = '0;
    end
  end

  // --- registers

  logic                   write, read;
  logic [VectorWidth-1:0] write_vector, read_vector;
  logic [31:0]            read_data;
  logic [127:0]           pending_words;
  logic                   unused_bits;

  assign unused_bits      = ^{s_axil_awaddr_i[1:0], s_axil_araddr_i[1:0], b_i};
  assign write            = s_axil_awvalid_i && s_axil_wvalid_i && !s_axil_bvalid_o;
  assign read             = s_axil_arvalid_i && !s_axil_rvalid_o;
  assign write_vector     = s_axil_awaddr_i[VectorWidth+3:4];
  assign read_vector      = s_axil_araddr_i[VectorWidth+3:4];
  assign s_axil_awready_o = write;
  assign s_axil_wready_o  = write;
  assign s_axil_arready_o = read;
  assign s_axil_bresp_o   = AxiOkay;
  assign s_axil_rresp_o   = AxiOkay;
  assign pending_words    = 128'(pending_q);

  always_comb begin
    read_data = '0;
    if (s_axil_araddr_i < TableBytes) begin
      unique case (s_axil_araddr_i[3:2])
        2'd0:    read_data = address_low_q[read_vector];
        2'd1:    read_data = address_high_q[read_vector];
        2'd2:    read_data = data_q[read_vector];
        default: read_data = 32'(masked_q[read_vector]);
      endcase
    end else if (s_axil_araddr_i >= PendingStart && s_axil_araddr_i < PendingStart + 13'd16) begin
      read_data = pending_words[32*s_axil_araddr_i[3:2]+:32];
    end
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      s_axil_bvalid_o <= 1'b0;
      s_axil_rvalid_o <= 1'b0;
      masked_q        <= '1;
    end else begin
      if (write) s_axil_bvalid_o <= 1'b1;
      else if (s_axil_bready_i) s_axil_bvalid_o <= 1'b0;
      if (read) s_axil_rvalid_o <= 1'b1;
      else if (s_axil_rready_i) s_axil_rvalid_o <= 1'b0;
      if (write && s_axil_awaddr_i < TableBytes && s_axil_awaddr_i[3:2] == 2'd3 && s_axil_wstrb_i[0]) begin
        masked_q[write_vector] <= s_axil_wdata_i[0];
      end
    end
    if (read) s_axil_rdata_o <= read_data;
    if (write && s_axil_awaddr_i < TableBytes && s_axil_wstrb_i == '1) begin
      unique case (s_axil_awaddr_i[3:2])
        2'd0:    address_low_q[write_vector] <= {s_axil_wdata_i[31:2], 2'b00};
        2'd1:    address_high_q[write_vector] <= s_axil_wdata_i;
        2'd2:    data_q[write_vector] <= s_axil_wdata_i;
        default: ;
      endcase
    end
  end

  // --- messages

  typedef enum logic [1:0] { StateIdle, StateSend, StateAnswer } state_e;

  state_e                 state_q;
  logic                   aw_sent_q, w_sent_q;
  logic [63:0]            message_address_q;
  logic [31:0]            message_data_q;
  logic                   due_any;
  logic [VectorWidth-1:0] due_vector;
  logic [Vectors-1:0]     due_grant;
  logic [Vectors-1:0]     raised;

  datum_round_robin #(.Count(Vectors)) u_due (
    .clk_i, .rst_ni, .request_i(pending_q & ~masked_q), .take_i(state_q == StateIdle), .any_o(due_any), .index_o(due_vector),
    .grant_o(due_grant)
  );

  assign irq_ready_o = 1'b1;
  assign raised      = irq_valid_i ? Vectors'(1) << irq_vector_i : '0;
  assign awvalid_o   = state_q == StateSend && !aw_sent_q;
  assign wvalid_o    = state_q == StateSend && !w_sent_q;
  assign aw_o        = '{id: '0, addr: '{target: TargetHost, address: {message_address_q[PaWidth-1:6], 6'd0}}, len: '0};
  assign w_o         = '{data: {(DataWidth / 32) {message_data_q}}, strb: DataBytes'(15) << message_address_q[5:0], last: 1'b1};
  assign bready_o    = 1'b1;
  assign idle_o      = state_q == StateIdle && !due_any && !irq_valid_i && !s_axil_awvalid_i && !s_axil_wvalid_i && !s_axil_arvalid_i
                       && !s_axil_bvalid_o && !s_axil_rvalid_o;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q   <= StateIdle;
      pending_q <= '0;
      aw_sent_q <= 1'b0;
      w_sent_q  <= 1'b0;
    end else begin
      pending_q <= (pending_q & ~(state_q == StateIdle ? due_grant : '0)) | raised;
      unique case (state_q)
        StateIdle: begin
          aw_sent_q <= 1'b0;
          w_sent_q  <= 1'b0;
          if (due_any) state_q <= StateSend;
        end
        StateSend: begin
          if (awready_i) aw_sent_q <= 1'b1;
          if (wready_i) w_sent_q <= 1'b1;
          if ((awready_i || aw_sent_q) && (wready_i || w_sent_q)) state_q <= StateAnswer;
        end
        default: if (bvalid_i) state_q <= StateIdle;
      endcase
      if (clear_i) begin
        pending_q <= '0;
        state_q   <= StateIdle;
      end
    end
    if (state_q == StateIdle) begin
      message_address_q <= {address_high_q[due_vector], address_low_q[due_vector]};
      message_data_q    <= data_q[due_vector];
    end
  end

  logic unused_high_address;
  assign unused_high_address = ^message_address_q[63:PaWidth];

  vector_exists: assert property (@(posedge clk_i) disable iff (!rst_ni) irq_valid_i |-> irq_vector_i < VectorWidth'(Vectors));
endmodule
