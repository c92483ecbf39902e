// Writes: splits bursts into column accesses, keeps their data until they are issued, and answers a burst when all its columns were written
// and all earlier bursts are answered. So an answered write is in the memory itself, for every reader of it.
module datum_dram_write_side
  import datum_pkg::*;
  import datum_dram_pkg::*;
(
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   awvalid_i,
  output logic                   awready_o,
  input  fabric_ax_t             aw_i,
  input  logic                   wvalid_i,
  output logic                   wready_o,
  input  axi_w_t                 w_i,
  output logic                   bvalid_o,
  input  logic                   bready_i,
  output fabric_b_t              b_o,

  output logic                   push_valid_o,
  input  logic                   push_ready_i,
  output dram_place_t            push_place_o,
  output logic [SlotWidth-1:0]   push_slot_o,

  input  logic                   issue_i,
  input  logic [SlotWidth-1:0]   issue_slot_i,
  output logic [DataWidth-1:0]   issue_data_o,
  output logic [DataBytes-1:0]   issue_strb_o,

  output logic                   idle_o
);
  localparam int unsigned Slots = 2 ** SlotWidth;

  logic [SlotWidth:0]          tail_q, head_q;
  logic [DataWidth-1:0]        data_q[Slots];
  logic [DataBytes-1:0]        strb_q[Slots];
  logic [FabricIdWidth:0]      tag_q[Slots];     // id, last
  logic [Slots-1:0]            done_q;
  logic [3:0]                  beat_q;

  logic                        push;
  logic                        last;
  logic [SlotWidth:0]          used;
  logic                        head_done, head_last;

  assign used  = tail_q - head_q;
  assign last  = beat_q == aw_i.len;
  assign push_place_o = place_of({aw_i.addr.address[38:12], aw_i.addr.address[11:6] + 6'(beat_q)});

  assign push_valid_o = awvalid_i && wvalid_i && !used[SlotWidth];
  assign push_slot_o  = tail_q[SlotWidth-1:0];
  assign push         = push_valid_o && push_ready_i;
  assign wready_o     = push;
  assign awready_o    = push && last;

  assign issue_data_o = data_q[issue_slot_i];
  assign issue_strb_o = strb_q[issue_slot_i];

  assign head_done = done_q[head_q[SlotWidth-1:0]];
  assign head_last = tag_q[head_q[SlotWidth-1:0]][0];
  assign bvalid_o  = head_done && head_last;
  assign b_o       = '{id: tag_q[head_q[SlotWidth-1:0]][FabricIdWidth:1], resp: '0};
  assign idle_o    = !awvalid_i && !wvalid_i && used == '0;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      tail_q <= '0;
      head_q <= '0;
      beat_q <= '0;
      done_q <= '0;
    end else begin
      if (push) begin
        tail_q <= tail_q + 1'b1;
        beat_q <= last ? '0 : beat_q + 1'b1;
      end
      if (issue_i) done_q[issue_slot_i] <= 1'b1;
      if (head_done && (!head_last || bready_i)) begin
        head_q                        <= head_q + 1'b1;
        done_q[head_q[SlotWidth-1:0]] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      data_q[tail_q[SlotWidth-1:0]] <= w_i.data;
      strb_q[tail_q[SlotWidth-1:0]] <= w_i.strb;
      tag_q[tail_q[SlotWidth-1:0]]  <= {aw_i.id, last};
    end
  end

  w_last_matches_length: assert property (@(posedge clk_i) disable iff (!rst_ni) push |-> w_i.last == last);
endmodule
