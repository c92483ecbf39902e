// Translations of one engine: keeps a few pages, asks for the page in use and ahead of it for the next one.
// A refusal is kept only until the page is used or the engine is flushed; it is reported when the access is due, not earlier.
module datum_dma_page
  import datum_pkg::*;
#(
  parameter bit Write = 1'b0
) (
  input  logic                         clk_i,
  input  logic                         rst_ni,
  input  logic                         flush_i,      // forget everything
  input  logic                         drain_i,      // forget everything and ask nothing

  input  logic                         want_valid_i, // the page in use
  input  logic [SpaceWidth-1:0]        want_space_i,
  input  logic [VaWidth-1:PageShift]   want_page_i,
  input  logic                         next_valid_i, // the page after it
  input  logic [SpaceWidth-1:0]        next_space_i,
  input  logic [VaWidth-1:PageShift]   next_page_i,

  output logic                         hit_o,
  output logic                         refused_o,
  output logic [7:0]                   reason_o,
  output target_e                      target_o,
  output logic [PaWidth-1:PageShift]   frame_o,

  output logic                         tr_req_valid_o,
  output translate_req_t               tr_req_o,
  input  logic                         tr_req_ready_i,
  input  logic                         tr_rsp_valid_i,
  input  translate_rsp_t               tr_rsp_i
);
  localparam int unsigned Entries = 4;
  typedef logic [1:0] index_t;

  typedef struct packed {
    logic [SpaceWidth-1:0]        space;
    logic [VaWidth-1:PageShift]   page;
  } tag_t;

  typedef struct packed {
    target_e                      target;
    logic [PaWidth-1:PageShift]   frame;
    logic [7:0]                   reason;
  } entry_t;

  tag_t                 tags [Entries];
  entry_t               entries [Entries];
  logic [Entries-1:0]   valid_q;

  // Takes the low bits of a page number; those from 9 on tell 2 MiB apart.
  function automatic index_t index_of(input logic [10:0] page);
    index_of = page[1:0] ^ page[3:2] ^ page[5:4] ^ page[10:9] ^ {^page[8:6], 1'b0};
  endfunction

  typedef enum logic [1:0] {Rest, Ask, Await} state_e;
  state_e  state_q;
  logic    stale_q;
  tag_t    asked_q;

  index_t  want_index, next_index;
  entry_t  want_entry;
  logic    want_known, next_known;

  assign want_index = index_of(want_page_i[22:12]);
  assign next_index = index_of(next_page_i[22:12]);
  assign want_entry = entries[want_index];
  assign want_known = valid_q[want_index] && tags[want_index] == {want_space_i, want_page_i};
  assign next_known = valid_q[next_index] && tags[next_index] == {next_space_i, next_page_i};

  assign hit_o     = want_valid_i && want_known && want_entry.reason == '0 && !drain_i;
  assign refused_o = want_valid_i && want_known && want_entry.reason != '0 && !drain_i;
  assign reason_o  = want_entry.reason;
  assign target_o  = want_entry.target;
  assign frame_o   = want_entry.frame;

  logic ask_want, ask_next;
  assign ask_want = want_valid_i && !want_known;
  assign ask_next = next_valid_i && !next_known && (!want_valid_i || next_index != want_index);

  logic answered;
  assign answered = tr_rsp_valid_i && (state_q == Await || (state_q == Ask && tr_req_ready_i));

  assign tr_req_valid_o = state_q == Ask;
  assign tr_req_o       = '{space: asked_q.space, page: asked_q.page, write: Write};

  // The size of a page is of no use here: every 4 KiB frame is asked for once.
  logic unused_size;
  assign unused_size = ^tr_rsp_i.size;

  always_ff @(posedge clk_i) begin
    if (!rst_ni) begin
      state_q <= Rest;
      valid_q <= '0;
      stale_q <= 1'b0;
    end else begin
      unique case (state_q)
        Rest: if ((ask_want || ask_next) && !drain_i && !flush_i) begin
          state_q <= Ask;
          stale_q <= 1'b0;
          asked_q <= ask_want ? {want_space_i, want_page_i} : {next_space_i, next_page_i};
        end
        Ask:     if (tr_req_ready_i) state_q <= answered ? Rest : Await;
        default: if (answered) state_q <= Rest;
      endcase
      if (answered && !stale_q) begin
        tags[index_of(asked_q.page[22:12])]    <= asked_q;
        entries[index_of(asked_q.page[22:12])] <= '{target: tr_rsp_i.target, frame: tr_rsp_i.frame, reason: tr_rsp_i.reason};
        valid_q[index_of(asked_q.page[22:12])] <= 1'b1;
      end
      // An answer on its way may rest on what is being forgotten.
      if (flush_i || drain_i) begin
        valid_q <= '0;
        stale_q <= 1'b1;
      end
    end
  end

  request_stays: assert property (@(posedge clk_i) disable iff (!rst_ni)
    tr_req_valid_o && !tr_req_ready_i |=> tr_req_valid_o && $stable(tr_req_o));
endmodule
