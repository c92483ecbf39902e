// Page-table walker: one walk at a time, tables in DRAM. An entry that refuses is believed only when it was read for this very walk.
// Of a last-level table, several lines are read at once: pages are mostly asked for in order, and a read in the midst of writes costs the DRAM two
// turns of its bus.
module datum_walker
  import datum_pkg::*;
  import datum_mmu_pkg::*;
  import datum_reg_pkg::*;
(
  input  logic                        clk_i,
  input  logic                        rst_ni,
  input  logic                        flush_i,       // forget what was read

  input  logic                        start_i,
  input  translate_req_t              question_i,    // constant while the walk runs
  output logic                        busy_o,
  output logic                        done_o,        // pulse, with the result
  output leaf_t                       leaf_o,

  // Root of the space asked for.
  input  logic                        root_valid_i,
  input  logic [PaWidth-1:PageShift]  root_frame_i,

  output logic                        arvalid_o,
  input  logic                        arready_i,
  output axi_ax_t                     ar_o,
  input  logic                        rvalid_i,
  output logic                        rready_o,
  input  axi_r_t                      r_i
);
  localparam int unsigned GroupLog2 = 2;    // lines read at once

  typedef enum logic [2:0] {
    StateIdle,
    StateRoot,
    StateEntry,      // looks at the entry of the table
    StateAsk,        // the line with the entry is to be read
    StateWait,
    StateDone
  } state_e;

  state_e                     state_q;
  logic [1:0]                 level_q;
  logic [PaWidth-1:PageShift] table_q;
  logic                       fresh_q;      // the line was read for this walk
  logic                       group_q;      // the whole group of lines is read
  logic [GroupLog2-1:0]       beat_q;
  logic                       failed_q;     // the line with the entry was answered with an error
  leaf_t                      leaf_q;

  logic [LevelBits-1:0]       index;
  logic [PaWidth-1:6]         line;
  logic                       last_level, cached, last_cached, above_cached, drop, fill;
  logic [DataWidth-1:0]       line_data, last_data, above_data;
  logic [63:0]                entry;
  logic                       entry_valid, entry_leaf, entry_host;
  logic [1:0]                 entry_ordinal;
  logic [PaWidth-1:PageShift] entry_frame;
  logic                       malformed, failed;
  leaf_t                      result;
  logic                       unused_bits;

  assign unused_bits = ^{question_i.space, r_i.id, entry[PTE_CACHE_POLICY_LSB+:PTE_CACHE_POLICY_WIDTH]};

  assign index = LevelBits'(question_i.page >> (LevelBits * level_q));
  assign line  = {table_q, state_q == StateWait && group_q ? {index[8:3+GroupLog2], beat_q} : index[8:3]};
  assign entry = line_data[64*index[2:0]+:64];

  // One for last-level tables and one for those above, which few lines serve for many pages.
  datum_walk_cache u_last (
    .clk_i, .rst_ni, .flush_i, .line_i(line), .use_i(state_q == StateEntry && last_level), .hit_o(last_cached), .data_o(last_data),
    .drop_i(drop && last_level), .fill_i(fill && last_level), .fill_data_i(r_i.data)
  );
  datum_walk_cache u_above (
    .clk_i, .rst_ni, .flush_i, .line_i(line), .use_i(state_q == StateEntry && !last_level), .hit_o(above_cached), .data_o(above_data),
    .drop_i(drop && !last_level), .fill_i(fill && !last_level), .fill_data_i(r_i.data)
  );
  assign last_level = level_q == '0;
  assign cached     = last_level ? last_cached : above_cached;
  assign line_data  = last_level ? last_data : above_data;

  assign entry_valid   = entry[PTE_VALID_LSB];
  assign entry_leaf    = entry[PTE_LEAF_LSB];
  assign entry_host    = entry[PTE_HOST_LSB];
  assign entry_ordinal = entry[PTE_ORDINAL_LSB+:PTE_ORDINAL_WIDTH];
  assign entry_frame   = entry[PTE_ADDRESS_LSB+:PTE_ADDRESS_WIDTH];

  always_comb begin
    malformed = entry[11:9] != '0 || entry[63:52] != '0;
    unique case (level_q)
      2'd0:    malformed |= !entry_leaf;
      2'd1:    malformed |= entry_leaf && entry_frame[PageShift+LevelBits-1:PageShift] != '0;
      2'd2:    malformed |= entry_leaf && entry_frame[PageShift+2*LevelBits-1:PageShift] != '0;
      default: malformed |= entry_leaf;
    endcase
    malformed |= entry_leaf && !entry_host && entry_ordinal[1];
  end

  always_comb begin
    result.target   = entry_host ? TargetHost : entry_ordinal[0] ? TargetOnchip : TargetDram;
    result.frame    = entry_frame;
    result.size     = level_q;
    result.writable = entry[PTE_WRITABLE_LSB];
    result.reason   = FAULT_REASON_NONE;
    if (!entry_valid) result.reason = FAULT_REASON_NOT_PRESENT;
    else if (malformed) result.reason = FAULT_REASON_MALFORMED_ENTRY;
    else if (entry_leaf && question_i.write && !result.writable) result.reason = FAULT_REASON_WRITE_REFUSED;
  end

  // Lines that came along may fail: nobody asked for them.
  assign failed = failed_q || (r_i.resp != AxiOkay && (!group_q || beat_q == index[3+:GroupLog2]));

  assign drop = state_q == StateEntry && cached && result.reason != FAULT_REASON_NONE;
  assign fill = state_q == StateWait && rvalid_i && r_i.resp == AxiOkay;

  assign arvalid_o = state_q == StateAsk;
  assign ar_o      = '{id: '0, addr: '{target: TargetDram, address: {group_q ? {line[PaWidth-1:6+GroupLog2], GroupLog2'(0)} : line, 6'd0}},
                       len: group_q ? 4'(2 ** GroupLog2 - 1) : 4'd0};
  assign rready_o  = state_q == StateWait;
  assign busy_o    = state_q != StateIdle;
  assign done_o    = state_q == StateDone;
  assign leaf_o    = leaf_q;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= StateIdle;
    end else begin
      unique case (state_q)
        StateIdle: if (start_i) state_q <= StateRoot;
        StateRoot: begin
          leaf_q        <= '0;
          leaf_q.reason <= FAULT_REASON_NO_ROOT;
          level_q       <= 2'd3;
          table_q       <= root_frame_i;
          fresh_q       <= 1'b0;
          state_q       <= root_valid_i ? StateEntry : StateDone;
        end
        StateEntry: begin
          leaf_q  <= result;
          fresh_q <= 1'b0;
          group_q <= !cached && last_level;
          beat_q  <= '0;
          if (!cached || (result.reason != FAULT_REASON_NONE && !fresh_q)) begin
            state_q <= StateAsk;
          end else if (result.reason != FAULT_REASON_NONE || entry_leaf) begin
            state_q <= StateDone;
          end else begin
            level_q <= level_q - 1'b1;
            table_q <= entry_frame;
          end
        end
        StateAsk: begin
          failed_q <= 1'b0;
          if (arready_i) state_q <= StateWait;
        end
        StateWait: begin
          if (rvalid_i) begin
            fresh_q       <= 1'b1;
            leaf_q        <= '0;
            leaf_q.reason <= FAULT_REASON_TABLE_READ;
            beat_q        <= beat_q + 1'b1;
            failed_q      <= failed;
            if (r_i.last) state_q <= failed ? StateDone : StateEntry;
          end
        end
        StateDone: state_q <= StateIdle;
        default:   state_q <= StateIdle;
      endcase
    end
  end

  data_ends_with_group: assert property (@(posedge clk_i) disable iff (!rst_ni)
    rvalid_i && rready_o |-> r_i.last == (!group_q || beat_q == '1));
endmodule
