// Column accesses that wait, by bank and row. A bank has a few lines, each with the accesses of one row in order; the oldest line is served until
// it is empty, so that streams which meet in a bank do not open their rows for every burst. Accesses of one address never overtake
// one another: they have the same row. A line that was served for long takes no more, so that none waits for ever.
module datum_dram_bank_queue
  import datum_dram_pkg::*;
#(
  parameter int unsigned DepthLog2 = 4,          // accesses of a line
  parameter int unsigned LinesLog2 = 3,          // lines of a bank
  parameter int unsigned ServedMaximum = 32      // accesses of a line after which it takes no more if others wait
) (
  input  logic                   clk_i,
  input  logic                   rst_ni,
  input  logic                   push_valid_i,
  output logic                   push_ready_o,
  input  dram_place_t            push_place_i,
  input  logic [TagWidth-1:0]    push_tag_i,
  input  logic                   pop_i,
  input  logic [BankWidth-1:0]   pop_bank_i,
  output logic [BankCount-1:0]   has_o,
  output logic [RowWidth-1:0]    row_o[BankCount],
  output dram_entry_t            head_o[BankCount],
  output logic [SlotWidth:0]     count_o     // accesses of all banks
);
  localparam int unsigned Lines = 2 ** LinesLog2;
  localparam int unsigned AllLines = BankCount * Lines;

  // By bank and line.
  dram_entry_t          entries_q[AllLines * 2 ** DepthLog2];
  logic [RowWidth-1:0]  rows_q[AllLines];
  logic [DepthLog2:0]   write_q[AllLines];
  logic [DepthLog2:0]   read_q[AllLines];
  // By bank: the line that is served, how many lines hold a row from it on, and what was served of it.
  logic [LinesLog2-1:0] line_q[BankCount];
  logic [LinesLog2:0]   live_q[BankCount];
  logic [5:0]           served_q[BankCount];
  logic [BankCount-1:0] leave;               // the served line is empty and another one waits

  for (genvar b = 0; b < BankCount; b++) begin : gen_bank
    logic [BankWidth+LinesLog2-1:0] here;
    assign here      = {BankWidth'(b), line_q[b]};
    assign has_o[b]  = write_q[here] != read_q[here];
    assign row_o[b]  = rows_q[here];
    assign head_o[b] = entries_q[{here, read_q[here][DepthLog2-1:0]}];
    assign leave[b]  = !has_o[b] && live_q[b] > (LinesLog2 + 1)'(1);
  end

  // --- the line that a push goes to: the youngest one of its row, else a new one

  logic [BankWidth-1:0]           bank;
  logic [LinesLog2-1:0]           candidate;
  logic                           found, push, opens;
  logic [BankWidth+LinesLog2-1:0] target, pop_line;

  assign bank     = push_place_i.bank;
  assign pop_line = {pop_bank_i, line_q[pop_bank_i]};

  always_comb begin
    found     = 1'b0;
    target    = {bank, line_q[bank] + LinesLog2'(live_q[bank])};
    candidate = '0;
    for (int unsigned age = 0; age < Lines; age++) begin
      candidate = line_q[bank] + LinesLog2'(age);
      if ((LinesLog2 + 1)'(age) < live_q[bank] && rows_q[{bank, candidate}] == push_place_i.row
          && !(age == 0 && live_q[bank] > (LinesLog2 + 1)'(1) && served_q[bank] >= 6'(ServedMaximum))) begin
        found  = 1'b1;
        target = {bank, candidate};
      end
    end
  end

  // A line that is being left takes nothing.
  assign push_ready_o = !leave[bank] && (found ? write_q[target] != {~read_q[target][DepthLog2], read_q[target][DepthLog2-1:0]}
                                               : !live_q[bank][LinesLog2]);
  assign push  = push_valid_i && push_ready_o;
  assign opens = push && !found;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      for (int unsigned b = 0; b < BankCount; b++) begin
        for (int unsigned line = 0; line < Lines; line++) begin
          write_q[b*Lines+line] <= '0;
          read_q[b*Lines+line]  <= '0;
        end
        line_q[b]   <= '0;
        live_q[b]   <= '0;
        served_q[b] <= '0;
      end
      count_o <= '0;
    end else begin
      if (push) write_q[target] <= write_q[target] + 1'b1;
      if (pop_i) read_q[pop_line] <= read_q[pop_line] + 1'b1;
      if (pop_i && served_q[pop_bank_i] < 6'(ServedMaximum)) served_q[pop_bank_i] <= served_q[pop_bank_i] + 1'b1;
      if (opens) live_q[bank] <= live_q[bank] + 1'b1;
      for (int unsigned b = 0; b < BankCount; b++) begin
        if (leave[b]) begin
          line_q[b]   <= line_q[b] + 1'b1;
          live_q[b]   <= live_q[b] - 1'b1;
          served_q[b] <= '0;
        end
      end
      count_o <= count_o + (SlotWidth + 1)'(push) - (SlotWidth + 1)'(pop_i);
    end
  end

  always_ff @(posedge clk_i) begin
    if (push) entries_q[{target, write_q[target][DepthLog2-1:0]}] <= '{column: push_place_i.column, tag: push_tag_i};
    if (opens) rows_q[target] <= push_place_i.row;
  end

`ifdef DATUM_ASSERTIONS
  logic [LinesLog2:0] live_of_pop;
  assign live_of_pop = live_q[pop_bank_i];
  pop_has_entry: assert property (@(posedge clk_i) disable iff (!rst_ni) pop_i |-> has_o[pop_bank_i] && live_of_pop != '0);
`endif
endmodule
