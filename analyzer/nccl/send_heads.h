#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <decode/nccl.h>

/*
 * What the first bytes of a SEND can be: headers of libraries and protocols that are told from each other by their
 * SENDs. One that fits says little, as many bytes fit some of them; all of many do.
 */
enum ft_nccl_head {
	FT_NCCL_HEAD_UCX, /* active message of its RC transports; uct/ib/rc and ucp of UCX 1.x */
	FT_NCCL_HEAD_OPENMPI, /* Open MPI over verbs: headers of btl/openib and pml/ob1, up to 4.x */
	FT_NCCL_HEAD_GLOO,    /* struct ibv_mr as it is in memory, with an immediate */
	FT_NCCL_HEAD_NVME,    /* command capsule; NVMe over Fabrics 1.1, 2.1 */
	FT_NCCL_HEAD_ISER,    /* header of control-type PDUs; RFC 7145, 9.2 */
	FT_NCCL_HEAD_NFS,     /* RPC-over-RDMA version 1; RFC 8166, 4.2 */
	FT_NCCL_HEAD_LUSTRE,  /* o2iblnd */
	FT_NCCL_HEAD_SMB,     /* SMB Direct; MS-SMBD, 2.2 */
	FT_NCCL_HEADS
};

struct ft_nccl_send {
	const uint8_t *bytes;      /* of the message's first packet */
	uint32_t captured, length; /* bytes that may be read; in the packet */
	bool whole;                /* it is the message's only packet */
	bool immediate;
};

/* FT_NCCL_CUT: too few bytes to tell. */
enum ft_nccl_verdict ft_nccl_head_read(enum ft_nccl_head head, const struct ft_nccl_send *send);

/* Of UCX: a message with a tag that Open MPI's collectives use. */
bool ft_nccl_head_is_mpi(const struct ft_nccl_send *send);

/* Of SMB Direct: SMB2 follows. */
bool ft_nccl_head_is_smb2(const struct ft_nccl_send *send);
