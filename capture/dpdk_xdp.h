#pragma once

/*
 * net_af_xdp attaches a program to its interface that would outlive this process: taking it off needs rights that
 * are given up after opening, and the next to open the interface would find it in the way. Attach it by a
 * descriptor instead, which ends with the process. Returns the descriptor, or -1: everything is as it was.
 */
int ft_dpdk_xdp_hold(int interface);
