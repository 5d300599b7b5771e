#pragma once

#include <stdint.h>

/*
 * RDMA devices that are not there: stands in for libibverbs, linked before it or preloaded. The environment
 * variable FT_FAKE_VERBS says how they behave, "key=value" words apart by blanks, or a file of them:
 *
 *   devices=mlx5_0:1,mlx5_1:2   names and numbers of ports                 [mlx5_0:1]
 *   frames=FILE                 what arrives: classic pcap, this machine's byte order
 *   repeat=N  burst=N           times over; frames that arrive between two polls  [1, 32]
 *   rate=N                      frames per second                          [0: as fast as they are polled]
 *   late=N                      microseconds that each poll waits before they do         [0]
 *   drop=1                      a frame without a buffer is lost and counted; else it waits
 *   discard=N                   every Nth frame is lost in the port and counted with the interface
 *   link=infiniband  down=1  interface=NAME                                [Ethernet, active, fake0]
 *   stamps=0  clock_khz=N  ppm=N  clock_jump=1     no time stamps; speed of the clock, its error; nonsense
 *   max_sge=N  max_wr=N  max_cqe=N
 *   list=ERRNO open=ERRNO qp=ERRNO flow=ERRNO register=ERRNO   that call is refused, by a name as ENOSYS
 *   counters=no-discards|none|stuck                counters that are not there, or do not count
 *   at=N:WHAT                   at the Nth frame, up to 8 times; WHAT is a completion without a frame
 *                               (prot, general), a frame's odd length (short, empty), or an event
 *                               (fatal, vanish, port-down, port-up, qp-fatal, cq-overrun, gid-change)
 *   strict=1                    a frame longer than its buffer stops the queue pair
 *   poison=0                    do not spoil a buffer as soon as it is posted
 *   account=FILE                what happened, written when a device is closed
 *
 * The process is ended by abort() when a send is posted, a queue pair is taken to RTS or beyond what IBTA's
 * state diagram allows, objects are destroyed in an order that a device refuses, or a device is closed with
 * any of them left.
 */
struct fake_verbs_account {
	uint64_t frames;   /* put into buffers */
	uint64_t dropped;  /* for want of one */
	uint64_t too_long; /* for their buffer */
	uint64_t flushed;  /* buffers that came back from a queue pair that had stopped */
	uint64_t posted;   /* buffers */
	uint64_t posts;    /* calls for it */
	uint64_t alive;    /* objects */
	unsigned resets;   /* of queue pairs, after the first time */
};

extern struct fake_verbs_account fake_verbs_account;

/* Forget the account, for the next test of a process. */
void fake_verbs_forget(void);
