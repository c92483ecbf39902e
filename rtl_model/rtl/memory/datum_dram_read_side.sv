// Reads: splits bursts into column accesses and gives their data back in the order of the bursts, whatever order the banks are served in.
module datum_dram_read_side
  import datum_pkg::*;
  import datum_dram_pkg::*;
(
  input  logic                   clk_i,
  input  logic                   rst_ni,

  input  logic                   arvalid_i,
  output logic                   arready_o,
  input  fabric_ax_t             ar_i,
  output logic                   rvalid_o,
  input  logic                   rready_i,
  output fabric_r_t              r_o,

  output logic                   push_valid_o,
  input  logic                   push_ready_i,
  output dram_place_t            push_place_o,
  output logic [SlotWidth-1:0]   push_slot_o,

  input  logic                   data_valid_i,
  input  logic [SlotWidth-1:0]   data_slot_i,
  input  logic [DataWidth-1:0]   data_i,
  input  logic                   data_failed_i,    // it is not what was written
  output column_t                data_column_o,

  output logic                   idle_o
);
  localparam int unsigned Slots = 2 ** SlotWidth;

  logic [SlotWidth:0]          tail_q, head_q;   // slots in use: from head to tail
  logic [DataWidth-1:0]        data_q[Slots];
  logic [FabricIdWidth:0]      tag_q[Slots];     // id, last
  column_t                     columns_q[Slots];
  logic [Slots-1:0]            done_q, failed_q;
  logic [3:0]                  beat_q;
  column_t                     column;

  logic                        push;
  logic                        last;
  logic [SlotWidth:0]          used;

  assign used  = tail_q - head_q;
  assign last  = beat_q == ar_i.len;
  // A burst stays inside 4 KiB, so that only these bits change from beat to beat.
  assign column       = {ar_i.addr.address[38:12], ar_i.addr.address[11:6] + 6'(beat_q)};
  assign push_place_o = place_of(column);

  assign push_valid_o = arvalid_i && !used[SlotWidth];
  assign push_slot_o  = tail_q[SlotWidth-1:0];
  assign push         = push_valid_o && push_ready_i;
  assign arready_o    = push && last;

  assign rvalid_o = done_q[head_q[SlotWidth-1:0]];
  assign r_o      = '{id: tag_q[head_q[SlotWidth-1:0]][FabricIdWidth:1], data: data_q[head_q[SlotWidth-1:0]],
                      resp: failed_q[head_q[SlotWidth-1:0]] ? AxiSlvErr : AxiOkay,
                      last: tag_q[head_q[SlotWidth-1:0]][0]};
  assign idle_o   = !arvalid_i && used == '0;

  assign data_column_o = columns_q[data_slot_i];

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
      if (data_valid_i) done_q[data_slot_i] <= 1'b1;
      if (rvalid_o && rready_i) begin
        head_q                        <= head_q + 1'b1;
        done_q[head_q[SlotWidth-1:0]] <= 1'b0;
      end
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) begin
      tag_q[tail_q[SlotWidth-1:0]]     <= {ar_i.id, last};
      columns_q[tail_q[SlotWidth-1:0]] <= column;
    end
    if (data_valid_i) begin
      data_q[data_slot_i]   <= data_i;
      failed_q[data_slot_i] <= data_failed_i;
    end
  end
endmodule
