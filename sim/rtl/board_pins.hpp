// The ports of the Verilated board, the same for each of its models.
#pragma once

#include <verilated.h>

namespace datum::sim {

/// 64 bytes of a bus.
using Wide = VlWide<16>;

/// References to the ports of one model; names as in rtl_model/rtl/datum_board.sv.
struct BoardPins {
  CData& clk_i;
  CData& rst_ni;
  QData& strap_memory_bytes_i;
  QData& strap_aperture_fixed_bytes_i;
  QData& strap_aperture_window_bytes_i;
  CData& strap_channels_i;
  CData& strap_memory_clean_i;
  QData& timer_i;
  CData& quiescent_o;
  CData& parked_o;
  IData& s_axil_bar0_awaddr_i;
  CData& s_axil_bar0_awvalid_i;
  CData& s_axil_bar0_awready_o;
  IData& s_axil_bar0_wdata_i;
  CData& s_axil_bar0_wstrb_i;
  CData& s_axil_bar0_wvalid_i;
  CData& s_axil_bar0_wready_o;
  CData& s_axil_bar0_bresp_o;
  CData& s_axil_bar0_bvalid_o;
  CData& s_axil_bar0_bready_i;
  IData& s_axil_bar0_araddr_i;
  CData& s_axil_bar0_arvalid_i;
  CData& s_axil_bar0_arready_o;
  IData& s_axil_bar0_rdata_o;
  CData& s_axil_bar0_rresp_o;
  CData& s_axil_bar0_rvalid_o;
  CData& s_axil_bar0_rready_i;
  SData& s_axil_bar4_awaddr_i;
  CData& s_axil_bar4_awvalid_i;
  CData& s_axil_bar4_awready_o;
  IData& s_axil_bar4_wdata_i;
  CData& s_axil_bar4_wstrb_i;
  CData& s_axil_bar4_wvalid_i;
  CData& s_axil_bar4_wready_o;
  CData& s_axil_bar4_bresp_o;
  CData& s_axil_bar4_bvalid_o;
  CData& s_axil_bar4_bready_i;
  SData& s_axil_bar4_araddr_i;
  CData& s_axil_bar4_arvalid_i;
  CData& s_axil_bar4_arready_o;
  IData& s_axil_bar4_rdata_o;
  CData& s_axil_bar4_rresp_o;
  CData& s_axil_bar4_rvalid_o;
  CData& s_axil_bar4_rready_i;
  CData& s_axi_bar2_awid_i;
  QData& s_axi_bar2_awaddr_i;
  CData& s_axi_bar2_awlen_i;
  CData& s_axi_bar2_awvalid_i;
  CData& s_axi_bar2_awready_o;
  Wide& s_axi_bar2_wdata_i;
  QData& s_axi_bar2_wstrb_i;
  CData& s_axi_bar2_wlast_i;
  CData& s_axi_bar2_wvalid_i;
  CData& s_axi_bar2_wready_o;
  CData& s_axi_bar2_bid_o;
  CData& s_axi_bar2_bresp_o;
  CData& s_axi_bar2_bvalid_o;
  CData& s_axi_bar2_bready_i;
  CData& s_axi_bar2_arid_i;
  QData& s_axi_bar2_araddr_i;
  CData& s_axi_bar2_arlen_i;
  CData& s_axi_bar2_arvalid_i;
  CData& s_axi_bar2_arready_o;
  CData& s_axi_bar2_rid_o;
  Wide& s_axi_bar2_rdata_o;
  CData& s_axi_bar2_rresp_o;
  CData& s_axi_bar2_rlast_o;
  CData& s_axi_bar2_rvalid_o;
  CData& s_axi_bar2_rready_i;
  SData& m_axi_host_awid_o;
  QData& m_axi_host_awaddr_o;
  CData& m_axi_host_awlen_o;
  CData& m_axi_host_awsize_o;
  CData& m_axi_host_awburst_o;
  CData& m_axi_host_awvalid_o;
  CData& m_axi_host_awready_i;
  Wide& m_axi_host_wdata_o;
  QData& m_axi_host_wstrb_o;
  CData& m_axi_host_wlast_o;
  CData& m_axi_host_wvalid_o;
  CData& m_axi_host_wready_i;
  SData& m_axi_host_bid_i;
  CData& m_axi_host_bresp_i;
  CData& m_axi_host_bvalid_i;
  CData& m_axi_host_bready_o;
  SData& m_axi_host_arid_o;
  QData& m_axi_host_araddr_o;
  CData& m_axi_host_arlen_o;
  CData& m_axi_host_arsize_o;
  CData& m_axi_host_arburst_o;
  CData& m_axi_host_arvalid_o;
  CData& m_axi_host_arready_i;
  SData& m_axi_host_rid_i;
  Wide& m_axi_host_rdata_i;
  CData& m_axi_host_rresp_i;
  CData& m_axi_host_rlast_i;
  CData& m_axi_host_rvalid_i;
  CData& m_axi_host_rready_o;
  CData& dram_act_valid_o;
  CData& dram_act_bank_o;
  IData& dram_act_row_o;
  CData& dram_pre_valid_o;
  CData& dram_pre_bank_o;
  CData& dram_pre_all_o;
  CData& dram_ref_valid_o;
  CData& dram_cas_valid_o;
  CData& dram_cas_write_o;
  CData& dram_cas_bank_o;
  CData& dram_cas_col_o;
  Wide& dram_wdata_o;
  QData& dram_wcheck_o;
  CData& dram_wlanes_o;
  QData& dram_wflips_o;
  CData& dram_wflip_lane_o;
  CData& dram_rvalid_i;
  Wide& dram_rdata_i;
  QData& dram_rcheck_i;
};

/// `Top` is the class that Verilator made of datum_board, under any prefix.
template <class Top>
[[nodiscard]] BoardPins pins_of(Top& top) {
  return BoardPins{
      .clk_i = top.clk_i,
      .rst_ni = top.rst_ni,
      .strap_memory_bytes_i = top.strap_memory_bytes_i,
      .strap_aperture_fixed_bytes_i = top.strap_aperture_fixed_bytes_i,
      .strap_aperture_window_bytes_i = top.strap_aperture_window_bytes_i,
      .strap_channels_i = top.strap_channels_i,
      .strap_memory_clean_i = top.strap_memory_clean_i,
      .timer_i = top.timer_i,
      .quiescent_o = top.quiescent_o,
      .parked_o = top.parked_o,
      .s_axil_bar0_awaddr_i = top.s_axil_bar0_awaddr_i,
      .s_axil_bar0_awvalid_i = top.s_axil_bar0_awvalid_i,
      .s_axil_bar0_awready_o = top.s_axil_bar0_awready_o,
      .s_axil_bar0_wdata_i = top.s_axil_bar0_wdata_i,
      .s_axil_bar0_wstrb_i = top.s_axil_bar0_wstrb_i,
      .s_axil_bar0_wvalid_i = top.s_axil_bar0_wvalid_i,
      .s_axil_bar0_wready_o = top.s_axil_bar0_wready_o,
      .s_axil_bar0_bresp_o = top.s_axil_bar0_bresp_o,
      .s_axil_bar0_bvalid_o = top.s_axil_bar0_bvalid_o,
      .s_axil_bar0_bready_i = top.s_axil_bar0_bready_i,
      .s_axil_bar0_araddr_i = top.s_axil_bar0_araddr_i,
      .s_axil_bar0_arvalid_i = top.s_axil_bar0_arvalid_i,
      .s_axil_bar0_arready_o = top.s_axil_bar0_arready_o,
      .s_axil_bar0_rdata_o = top.s_axil_bar0_rdata_o,
      .s_axil_bar0_rresp_o = top.s_axil_bar0_rresp_o,
      .s_axil_bar0_rvalid_o = top.s_axil_bar0_rvalid_o,
      .s_axil_bar0_rready_i = top.s_axil_bar0_rready_i,
      .s_axil_bar4_awaddr_i = top.s_axil_bar4_awaddr_i,
      .s_axil_bar4_awvalid_i = top.s_axil_bar4_awvalid_i,
      .s_axil_bar4_awready_o = top.s_axil_bar4_awready_o,
      .s_axil_bar4_wdata_i = top.s_axil_bar4_wdata_i,
      .s_axil_bar4_wstrb_i = top.s_axil_bar4_wstrb_i,
      .s_axil_bar4_wvalid_i = top.s_axil_bar4_wvalid_i,
      .s_axil_bar4_wready_o = top.s_axil_bar4_wready_o,
      .s_axil_bar4_bresp_o = top.s_axil_bar4_bresp_o,
      .s_axil_bar4_bvalid_o = top.s_axil_bar4_bvalid_o,
      .s_axil_bar4_bready_i = top.s_axil_bar4_bready_i,
      .s_axil_bar4_araddr_i = top.s_axil_bar4_araddr_i,
      .s_axil_bar4_arvalid_i = top.s_axil_bar4_arvalid_i,
      .s_axil_bar4_arready_o = top.s_axil_bar4_arready_o,
      .s_axil_bar4_rdata_o = top.s_axil_bar4_rdata_o,
      .s_axil_bar4_rresp_o = top.s_axil_bar4_rresp_o,
      .s_axil_bar4_rvalid_o = top.s_axil_bar4_rvalid_o,
      .s_axil_bar4_rready_i = top.s_axil_bar4_rready_i,
      .s_axi_bar2_awid_i = top.s_axi_bar2_awid_i,
      .s_axi_bar2_awaddr_i = top.s_axi_bar2_awaddr_i,
      .s_axi_bar2_awlen_i = top.s_axi_bar2_awlen_i,
      .s_axi_bar2_awvalid_i = top.s_axi_bar2_awvalid_i,
      .s_axi_bar2_awready_o = top.s_axi_bar2_awready_o,
      .s_axi_bar2_wdata_i = top.s_axi_bar2_wdata_i,
      .s_axi_bar2_wstrb_i = top.s_axi_bar2_wstrb_i,
      .s_axi_bar2_wlast_i = top.s_axi_bar2_wlast_i,
      .s_axi_bar2_wvalid_i = top.s_axi_bar2_wvalid_i,
      .s_axi_bar2_wready_o = top.s_axi_bar2_wready_o,
      .s_axi_bar2_bid_o = top.s_axi_bar2_bid_o,
      .s_axi_bar2_bresp_o = top.s_axi_bar2_bresp_o,
      .s_axi_bar2_bvalid_o = top.s_axi_bar2_bvalid_o,
      .s_axi_bar2_bready_i = top.s_axi_bar2_bready_i,
      .s_axi_bar2_arid_i = top.s_axi_bar2_arid_i,
      .s_axi_bar2_araddr_i = top.s_axi_bar2_araddr_i,
      .s_axi_bar2_arlen_i = top.s_axi_bar2_arlen_i,
      .s_axi_bar2_arvalid_i = top.s_axi_bar2_arvalid_i,
      .s_axi_bar2_arready_o = top.s_axi_bar2_arready_o,
      .s_axi_bar2_rid_o = top.s_axi_bar2_rid_o,
      .s_axi_bar2_rdata_o = top.s_axi_bar2_rdata_o,
      .s_axi_bar2_rresp_o = top.s_axi_bar2_rresp_o,
      .s_axi_bar2_rlast_o = top.s_axi_bar2_rlast_o,
      .s_axi_bar2_rvalid_o = top.s_axi_bar2_rvalid_o,
      .s_axi_bar2_rready_i = top.s_axi_bar2_rready_i,
      .m_axi_host_awid_o = top.m_axi_host_awid_o,
      .m_axi_host_awaddr_o = top.m_axi_host_awaddr_o,
      .m_axi_host_awlen_o = top.m_axi_host_awlen_o,
      .m_axi_host_awsize_o = top.m_axi_host_awsize_o,
      .m_axi_host_awburst_o = top.m_axi_host_awburst_o,
      .m_axi_host_awvalid_o = top.m_axi_host_awvalid_o,
      .m_axi_host_awready_i = top.m_axi_host_awready_i,
      .m_axi_host_wdata_o = top.m_axi_host_wdata_o,
      .m_axi_host_wstrb_o = top.m_axi_host_wstrb_o,
      .m_axi_host_wlast_o = top.m_axi_host_wlast_o,
      .m_axi_host_wvalid_o = top.m_axi_host_wvalid_o,
      .m_axi_host_wready_i = top.m_axi_host_wready_i,
      .m_axi_host_bid_i = top.m_axi_host_bid_i,
      .m_axi_host_bresp_i = top.m_axi_host_bresp_i,
      .m_axi_host_bvalid_i = top.m_axi_host_bvalid_i,
      .m_axi_host_bready_o = top.m_axi_host_bready_o,
      .m_axi_host_arid_o = top.m_axi_host_arid_o,
      .m_axi_host_araddr_o = top.m_axi_host_araddr_o,
      .m_axi_host_arlen_o = top.m_axi_host_arlen_o,
      .m_axi_host_arsize_o = top.m_axi_host_arsize_o,
      .m_axi_host_arburst_o = top.m_axi_host_arburst_o,
      .m_axi_host_arvalid_o = top.m_axi_host_arvalid_o,
      .m_axi_host_arready_i = top.m_axi_host_arready_i,
      .m_axi_host_rid_i = top.m_axi_host_rid_i,
      .m_axi_host_rdata_i = top.m_axi_host_rdata_i,
      .m_axi_host_rresp_i = top.m_axi_host_rresp_i,
      .m_axi_host_rlast_i = top.m_axi_host_rlast_i,
      .m_axi_host_rvalid_i = top.m_axi_host_rvalid_i,
      .m_axi_host_rready_o = top.m_axi_host_rready_o,
      .dram_act_valid_o = top.dram_act_valid_o,
      .dram_act_bank_o = top.dram_act_bank_o,
      .dram_act_row_o = top.dram_act_row_o,
      .dram_pre_valid_o = top.dram_pre_valid_o,
      .dram_pre_bank_o = top.dram_pre_bank_o,
      .dram_pre_all_o = top.dram_pre_all_o,
      .dram_ref_valid_o = top.dram_ref_valid_o,
      .dram_cas_valid_o = top.dram_cas_valid_o,
      .dram_cas_write_o = top.dram_cas_write_o,
      .dram_cas_bank_o = top.dram_cas_bank_o,
      .dram_cas_col_o = top.dram_cas_col_o,
      .dram_wdata_o = top.dram_wdata_o,
      .dram_wcheck_o = top.dram_wcheck_o,
      .dram_wlanes_o = top.dram_wlanes_o,
      .dram_wflips_o = top.dram_wflips_o,
      .dram_wflip_lane_o = top.dram_wflip_lane_o,
      .dram_rvalid_i = top.dram_rvalid_i,
      .dram_rdata_i = top.dram_rdata_i,
      .dram_rcheck_i = top.dram_rcheck_i,
  };
}

}  // namespace datum::sim
