#pragma once

/*
 * Give up every right that reading, judging and writing files do not need: all capabilities, new privileges by exec,
 * and by a system call filter on every thread: new sockets, sending in any way (also write() and its like on the
 * packet sockets that are open now, and io_uring), copies of descriptors, other programs, other processes,
 * settings of devices. What the filter refuses fails with EPERM. Files may still be opened, made and removed as the
 * user's rights alone allow.
 *
 * Not covered: memory that a device reads by itself (DPDK, RDMA): there the sources own no transmit queue.
 * 0; or -errno with `*what` that could not be given up.
 */
int ft_rights_drop(const char **what);
