#include "send_heads.h"

#include <string.h>

#include <decode/big_endian.h>
#include <decode/little_endian.h>

/* UCX: flow control in bits 7..5 of the first byte, the active message's number in the others. */
enum {
	UCX_FLOW = 0xe0,
	UCX_ID = 0x1f,
	UCX_WIREUP = 1,
	UCX_EAGER = 2,
	UCX_EAGER_FIRST = 3,
	UCX_EAGER_MIDDLE = 4,
	UCX_SYNC = 6,
	UCX_SYNC_FIRST = 7,
	UCX_RTS = 9,
	UCX_IDS = 29,
	UCX_CREDITS_BYTES = 2, /* a message that only grants credits has no more */
};

/* Bytes that a message has at least, with its number in front. */
static const uint8_t ucx_bytes[UCX_IDS] = {
	[UCX_WIREUP] = 9,
	[UCX_EAGER] = 9,
	[UCX_EAGER_FIRST] = 25,
	[UCX_EAGER_MIDDLE] = 17,
	[5] = 9,
	[UCX_SYNC] = 25,
	[UCX_SYNC_FIRST] = 33,
	[8] = 9,
	[UCX_RTS] = 34,
	[10] = 9,
	[11] = 41,
	[12] = 9,
	[13] = 9,
	[14] = 9,
	[15] = 9,
	[16] = 9,
	[17] = 1,
	[18] = 1,
	[19] = 1,
	[20] = 1,
	[21] = 1,
	[22] = 1,
	[23] = 9,
	[24] = 9,
	[25] = 9,
	[26] = 9,
	[27] = 9,
	[28] = 9,
};

/* RC mlx5 puts a zero byte in front. */
static struct ft_nccl_send without_front(const struct ft_nccl_send *send)
{
	struct ft_nccl_send inner = *send;

	if (send->captured > 1 && send->bytes[0] == 0) {
		inner.bytes++;
		inner.captured--;
		inner.length--;
	}
	return inner;
}

static enum ft_nccl_verdict read_ucx(const struct ft_nccl_send *send)
{
	struct ft_nccl_send inner = without_front(send);
	uint32_t id = inner.bytes[0] & UCX_ID;

	if (inner.length < UCX_CREDITS_BYTES + 1u)
		return (inner.bytes[0] & UCX_FLOW) != 0 ? FT_NCCL_READ : FT_NCCL_NOT;
	if (send->immediate || id >= UCX_IDS || ucx_bytes[id] == 0 || inner.length < ucx_bytes[id])
		return FT_NCCL_NOT;
	if (id == UCX_EAGER_FIRST && inner.captured >= 17 &&
	    (ft_le64(inner.bytes + 9) >> 40 != 0 || ft_le64(inner.bytes + 9) == 0))
		return FT_NCCL_NOT;
	return FT_NCCL_READ;
}

/*
 * Open MPI's tags: 24 bits of the message's tag, 20 of the source's rank, 20 of the communicator's number. Tags of
 * collectives are small negative numbers.
 */
bool ft_nccl_head_is_mpi(const struct ft_nccl_send *send)
{
	struct ft_nccl_send inner = without_front(send);
	uint32_t id;
	uint64_t tag;

	if (send->immediate || inner.captured < 9)
		return false;
	id = inner.bytes[0] & UCX_ID;
	tag = ft_le64(inner.bytes + 1);
	return (id == UCX_EAGER || id == UCX_EAGER_FIRST || id == UCX_SYNC ||
		id == UCX_SYNC_FIRST || id == UCX_RTS) &&
	       tag >> 48 == 0xffff && tag >> 40 != 0xffffff && (tag & 0xfffff) < 0x10000;
}

/*
 * A tag, a flag, credits, and with some builds padding; then the header of the message, whose type is the tag. Control
 * messages have none.
 */
enum {
	OPENMPI_CONTROL = 0x20,
	OPENMPI_FIRST = 0x41,
	OPENMPI_LAST = 0x49,
	OPENMPI_HEADER = 4,
	OPENMPI_PADDED = 8,
	OPENMPI_FLAGS = 0x1f,
};

static bool has_type_at(const struct ft_nccl_send *send, uint32_t at)
{
	return send->captured >= at + 2 && send->bytes[at] == send->bytes[0] &&
	       send->bytes[at + 1] <= OPENMPI_FLAGS;
}

static enum ft_nccl_verdict read_openmpi(const struct ft_nccl_send *send)
{
	uint8_t tag = send->bytes[0];

	if (send->immediate ||
	    (tag != OPENMPI_CONTROL && (tag < OPENMPI_FIRST || tag > OPENMPI_LAST)))
		return FT_NCCL_NOT;
	if (tag == OPENMPI_CONTROL || send->captured < OPENMPI_PADDED + 2)
		return FT_NCCL_CUT;
	return has_type_at(send, OPENMPI_HEADER) || has_type_at(send, OPENMPI_PADDED) ? FT_NCCL_READ
										      : FT_NCCL_NOT;
}

/* On a 64-bit host: two pointers, address, length, three keys and numbers, padding; pointers are of user space. */
enum { MR_BYTES = 48, MR_ADDRESS = 16, MR_LENGTH = 24, POINTER_TOP = 6 };

static enum ft_nccl_verdict read_gloo(const struct ft_nccl_send *send)
{
	if (!send->immediate || !send->whole || send->length != MR_BYTES)
		return FT_NCCL_NOT;
	if (send->captured < 8)
		return FT_NCCL_CUT;
	if (ft_le16(send->bytes + POINTER_TOP) != 0 || ft_le64(send->bytes) == 0)
		return FT_NCCL_NOT;
	if (send->captured < MR_LENGTH + 8)
		return FT_NCCL_READ;
	return ft_le16(send->bytes + MR_ADDRESS + POINTER_TOP) == 0 &&
			       ft_le64(send->bytes + MR_ADDRESS) != 0 &&
			       ft_le64(send->bytes + MR_LENGTH) != 0 &&
			       ft_le64(send->bytes + MR_LENGTH) >> 48 == 0
		       ? FT_NCCL_READ
		       : FT_NCCL_NOT;
}

/* Opcode, then flags: over Fabrics data is always described by an SGL (01 in the top bits). */
enum { NVME_BYTES = 64, NVME_SGL = 0x40, NVME_FABRICS = 0x7f, NVME_OPCODES = 0x20 };

static enum ft_nccl_verdict read_nvme(const struct ft_nccl_send *send)
{
	if (send->length < NVME_BYTES)
		return FT_NCCL_NOT;
	if (send->captured < 2)
		return FT_NCCL_CUT;
	return send->bytes[1] == NVME_SGL &&
			       (send->bytes[0] < NVME_OPCODES || send->bytes[0] == NVME_FABRICS)
		       ? FT_NCCL_READ
		       : FT_NCCL_NOT;
}

/* Four bits of type: 1 is an iSCSI PDU; then flags, and three reserved bytes. */
enum { ISER_BYTES = 76, ISER_FLAGS = 0x0c, ISER_CONTROL = 0x10 };

static enum ft_nccl_verdict read_iser(const struct ft_nccl_send *send)
{
	if (send->length < ISER_BYTES)
		return FT_NCCL_NOT;
	if (send->captured < 4)
		return FT_NCCL_CUT;
	return (send->bytes[0] & ~ISER_FLAGS) == ISER_CONTROL && send->bytes[1] == 0 &&
			       send->bytes[2] == 0 && send->bytes[3] == 0
		       ? FT_NCCL_READ
		       : FT_NCCL_NOT;
}

/* Transaction, version, credits, type of message; then three lists of chunks. */
enum { NFS_BYTES = 28, NFS_VERSION = 1, NFS_TYPES = 5 };

static enum ft_nccl_verdict read_nfs(const struct ft_nccl_send *send)
{
	const uint8_t *b = send->bytes;

	if (send->length < NFS_BYTES)
		return FT_NCCL_NOT;
	if (send->captured < 8)
		return FT_NCCL_CUT;
	if (ft_be32(b + 4) != NFS_VERSION || (send->captured >= 12 && ft_be32(b + 8) > 0xffff))
		return FT_NCCL_NOT;
	return send->captured < 16 || ft_be32(b + 12) < NFS_TYPES ? FT_NCCL_READ : FT_NCCL_NOT;
}

/* In the order of the sender's host. */
#define LUSTRE_MAGIC 0x0be91b91u

static enum ft_nccl_verdict read_lustre(const struct ft_nccl_send *send)
{
	if (send->length < 8)
		return FT_NCCL_NOT;
	if (send->captured < 4)
		return FT_NCCL_CUT;
	return ft_le32(send->bytes) == LUSTRE_MAGIC || ft_be32(send->bytes) == LUSTRE_MAGIC
		       ? FT_NCCL_READ
		       : FT_NCCL_NOT;
}

/* Negotiation: versions; else credits asked and granted, flags, reserved, remaining, offset, length. */
enum { SMB_REQUEST = 20, SMB_ANSWER = 32, SMB_HEADER = 24, SMB_VERSION = 0x0100 };

static enum ft_nccl_verdict read_smb(const struct ft_nccl_send *send)
{
	const uint8_t *b = send->bytes;

	if (send->length < SMB_REQUEST)
		return FT_NCCL_NOT;
	if (send->captured < 8)
		return FT_NCCL_CUT;
	if ((send->length == SMB_REQUEST || send->length == SMB_ANSWER) &&
	    ft_le16(b) == SMB_VERSION && ft_le16(b + 2) == SMB_VERSION)
		return FT_NCCL_READ;
	if (ft_le16(b) == 0 || ft_le16(b + 4) > 1 || ft_le16(b + 6) != 0)
		return FT_NCCL_NOT;
	if (send->captured < SMB_REQUEST)
		return FT_NCCL_READ;
	return ft_le32(b + 12) == (ft_le32(b + 16) == 0 ? 0 : SMB_HEADER) ? FT_NCCL_READ
									  : FT_NCCL_NOT;
}

bool ft_nccl_head_is_smb2(const struct ft_nccl_send *send)
{
	static const uint8_t magic[4] = { 0xfe, 'S', 'M', 'B' };

	return send->captured >= SMB_HEADER + sizeof magic &&
	       memcmp(send->bytes + SMB_HEADER, magic, sizeof magic) == 0;
}

enum ft_nccl_verdict ft_nccl_head_read(enum ft_nccl_head head, const struct ft_nccl_send *send)
{
	static enum ft_nccl_verdict (*const readers[FT_NCCL_HEADS])(const struct ft_nccl_send *) = {
		[FT_NCCL_HEAD_UCX] = read_ucx,       [FT_NCCL_HEAD_OPENMPI] = read_openmpi,
		[FT_NCCL_HEAD_GLOO] = read_gloo,     [FT_NCCL_HEAD_NVME] = read_nvme,
		[FT_NCCL_HEAD_ISER] = read_iser,     [FT_NCCL_HEAD_NFS] = read_nfs,
		[FT_NCCL_HEAD_LUSTRE] = read_lustre, [FT_NCCL_HEAD_SMB] = read_smb,
	};

	return send->captured == 0 ? FT_NCCL_CUT : readers[head](send);
}
