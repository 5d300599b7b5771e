#include "classify.h"

/* Storage over RDMA, by the port that CM was asked for, and by what SENDs look like. */

enum {
	PORT_NVME = 4420,
	PORT_ISER = 3260,
	PORT_NFS = 20049,
	PORT_LUSTRE = 987,
	PORT_SMB = 445,
	NVME_COMMAND = 64,
	NVME_ANSWER = 16,
	ISER_PDU = 76,
	FEW = 3,
};

static bool asked_for_nvme(const struct ft_nccl_traffic *traffic)
{
	return traffic->service_port == PORT_NVME;
}

static bool asked_for_iser(const struct ft_nccl_traffic *traffic)
{
	return traffic->service_port == PORT_ISER;
}

static bool asked_for_nfs(const struct ft_nccl_traffic *traffic)
{
	return traffic->service_port == PORT_NFS;
}

static bool asked_for_lustre(const struct ft_nccl_traffic *traffic)
{
	return traffic->service_port == PORT_LUSTRE;
}

static bool asked_for_smb(const struct ft_nccl_traffic *traffic)
{
	return traffic->service_port == PORT_SMB;
}

/* The end that gets answers of 16 bytes, the host; NULL. */
static const struct ft_nccl_qp *nvme_host(const struct ft_nccl_traffic *traffic)
{
	for (unsigned i = 0; traffic->count == 2 && i < 2; i++)
		if (ft_nccl_sends_have(traffic->ends[i], NVME_ANSWER) &&
		    ft_nccl_sends_have(traffic->ends[1 - i], NVME_COMMAND))
			return traffic->ends[i];
	return NULL;
}

static bool has_nvme_sizes(const struct ft_nccl_traffic *traffic)
{
	return nvme_host(traffic) != NULL;
}

/* Commands on one end only. */
static bool has_nvme_commands(const struct ft_nccl_traffic *traffic)
{
	unsigned ends = 0;

	for (unsigned i = 0; i < traffic->count; i++)
		ends += traffic->ends[i]->fits[FT_NCCL_HEAD_NVME] > 0 &&
			traffic->ends[i]->fails[FT_NCCL_HEAD_NVME] == 0;
	return ends == 1;
}

/* The end that is sent what has the size of commands is sent something else. */
static bool has_other_commands(const struct ft_nccl_traffic *traffic)
{
	for (unsigned i = 0; i < traffic->count; i++)
		if (traffic->ends[i]->fails[FT_NCCL_HEAD_NVME] > 0 &&
		    ft_nccl_sends_have(traffic->ends[i], NVME_COMMAND))
			return true;
	return false;
}

static bool invalidates(const struct ft_nccl_traffic *traffic)
{
	return (traffic->operations & (1u << 0x16 | 1u << 0x17)) != 0;
}

/* READs and WRITEs go to the host alone: the target moves the data. */
static bool target_moves(const struct ft_nccl_traffic *traffic)
{
	const uint32_t moves = FT_NCCL_READS | FT_NCCL_WRITES_PLAIN;
	const struct ft_nccl_qp *host = nvme_host(traffic);

	if (host == NULL || (host->operations & moves) == 0)
		return false;
	return (traffic->ends[host == traffic->ends[0]]->operations & moves) == 0;
}

static bool adds_or_compares(const struct ft_nccl_traffic *traffic)
{
	return (traffic->operations & (FT_NCCL_COMPARES | FT_NCCL_ADDS)) != 0;
}

static const struct ft_nccl_sign nvme_signs[] = {
	{ asked_for_nvme, 60, "CM port 4420" },
	{ has_nvme_sizes, 60, "SENDs of 64 bytes and of 16 the other way" },
	{ has_nvme_commands, 30, "NVMe commands" },
	{ target_moves, 15, "READs and WRITEs by one side" },
	{ invalidates, 10, "SENDs with Invalidate" },
	{ has_other_commands, -60, NULL },
	{ ft_nccl_has_immediates, FT_NCCL_RULED_OUT, NULL },
	{ adds_or_compares, FT_NCCL_RULED_OUT, NULL },
};

const struct ft_nccl_candidate ft_nccl_candidate_nvme =
	FT_NCCL_CANDIDATE(FT_NCCL_CLASS_NVME, nvme_signs);

static bool has_iser_heads(const struct ft_nccl_traffic *traffic)
{
	return ft_nccl_heads_fit(traffic, FT_NCCL_HEAD_ISER, FEW);
}

static bool has_iser_sizes(const struct ft_nccl_traffic *traffic)
{
	for (unsigned i = 0; i < traffic->count; i++)
		for (size_t size = 0; size < FT_NCCL_SIZES; size++)
			if (traffic->ends[i]->sizes[size].bytes == ISER_PDU &&
			    traffic->ends[i]->sizes[size].times >= FEW)
				return true;
	return false;
}

static const struct ft_nccl_sign iser_signs[] = {
	{ asked_for_iser, 60, "CM port 3260" },
	{ has_iser_heads, 50, "iSER headers" },
	{ has_iser_sizes, 40, "SENDs of 76 bytes" },
	{ ft_nccl_has_immediates, FT_NCCL_RULED_OUT, NULL },
	{ adds_or_compares, FT_NCCL_RULED_OUT, NULL },
};

const struct ft_nccl_candidate ft_nccl_candidate_iser =
	FT_NCCL_CANDIDATE(FT_NCCL_CLASS_ISER, iser_signs);

static bool has_nfs_heads(const struct ft_nccl_traffic *traffic)
{
	return ft_nccl_heads_fit(traffic, FT_NCCL_HEAD_NFS, FEW);
}

static const struct ft_nccl_sign nfs_signs[] = {
	{ asked_for_nfs, 60, "CM port 20049" },
	{ has_nfs_heads, 85, "RPC-over-RDMA headers" },
	{ ft_nccl_has_sends, 10, NULL },
	{ ft_nccl_has_immediates, FT_NCCL_RULED_OUT, NULL },
	{ adds_or_compares, FT_NCCL_RULED_OUT, NULL },
};

const struct ft_nccl_candidate ft_nccl_candidate_nfs =
	FT_NCCL_CANDIDATE(FT_NCCL_CLASS_NFS, nfs_signs);

static bool has_smb_heads(const struct ft_nccl_traffic *traffic)
{
	return ft_nccl_heads_fit(traffic, FT_NCCL_HEAD_SMB, FEW);
}

static bool has_smb2(const struct ft_nccl_traffic *traffic)
{
	return (traffic->marks & FT_NCCL_MARK_SMB2) != 0 && has_smb_heads(traffic);
}

static const struct ft_nccl_sign smb_signs[] = {
	{ asked_for_smb, 60, "CM port 445" },
	{ has_smb_heads, 45, "SMB Direct headers" },
	{ has_smb2, 50, "SMB2 in them" },
	{ ft_nccl_has_sends, 10, NULL },
	{ ft_nccl_has_immediates, FT_NCCL_RULED_OUT, NULL },
	{ adds_or_compares, FT_NCCL_RULED_OUT, NULL },
};

const struct ft_nccl_candidate ft_nccl_candidate_smb =
	FT_NCCL_CANDIDATE(FT_NCCL_CLASS_SMB, smb_signs);

static bool has_lustre_heads(const struct ft_nccl_traffic *traffic)
{
	return ft_nccl_heads_fit(traffic, FT_NCCL_HEAD_LUSTRE, 1);
}

static const struct ft_nccl_sign lustre_signs[] = {
	{ asked_for_lustre, 60, "CM port 987" },
	{ has_lustre_heads, 95, "o2iblnd's magic" },
	{ ft_nccl_has_sends, 10, NULL },
	{ ft_nccl_has_immediates, FT_NCCL_RULED_OUT, NULL },
	{ adds_or_compares, FT_NCCL_RULED_OUT, NULL },
};

const struct ft_nccl_candidate ft_nccl_candidate_lustre =
	FT_NCCL_CANDIDATE(FT_NCCL_CLASS_LUSTRE, lustre_signs);
