// A queue of column accesses for each bank. One push and one pop a cycle.
module datum_dram_bank_queue
  import datum_dram_pkg::*;
#(
  parameter int unsigned DepthLog2 = 4
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   push_i,
  input  logic [BankWidth-1:0]   push_bank_i,
  input  dram_entry_t            push_entry_i,
  output logic [BankCount-1:0]   full_o,
  input  logic                   pop_i,
  input  logic [BankWidth-1:0]   pop_bank_i,
  output logic [BankCount-1:0]   has_o,
  output dram_entry_t            head_o[BankCount],
  output logic [SlotWidth:0]     count_o     // entries of all banks
);
  dram_entry_t        entries_q[BankCount * 2 ** DepthLog2];
  logic [DepthLog2:0] write_q[BankCount];
  logic [DepthLog2:0] read_q[BankCount];

  for (genvar b = 0; b < BankCount; b++) begin : gen_bank
    assign has_o[b]  = write_q[b] != read_q[b];
    assign full_o[b] = write_q[b] == {~read_q[b][DepthLog2], read_q[b][DepthLog2-1:0]};
    assign head_o[b] = entries_q[{BankWidth'(b), read_q[b][DepthLog2-1:0]}];
  end

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned b = 0; b < BankCount; b++) begin
        write_q[b] <= '0;
        read_q[b]  <= '0;
      end
      count_o <= '0;
    end else begin
      if (push_i) write_q[push_bank_i] <= write_q[push_bank_i] + 1'b1;
      if (pop_i) read_q[pop_bank_i] <= read_q[pop_bank_i] + 1'b1;
      count_o <= count_o + (SlotWidth + 1)'(push_i) - (SlotWidth + 1)'(pop_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push_i) entries_q[{push_bank_i, write_q[push_bank_i][DepthLog2-1:0]}] <= push_entry_i;
  end

  push_has_room: assert property (@(posedge clk_i) disable iff (!rst_ni) push_i |-> !full_o[push_bank_i]);
  pop_has_entry: assert property (@(posedge clk_i) disable iff (!rst_ni) pop_i |-> has_o[pop_bank_i]);
endmodule
