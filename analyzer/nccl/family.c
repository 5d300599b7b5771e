#include "family.h"

#include "fifo.h"

/* First and last release with the family. */
struct span {
	int32_t first, last;
};

static const struct span spans[FT_NCCL_FAMILIES] = {
	[FT_NCCL_A] = { 20305, 20708 }, [FT_NCCL_B] = { 20803, 21104 },
	[FT_NCCL_C] = { 21207, 21904 }, [FT_NCCL_D] = { 22003, 22304 },
	[FT_NCCL_E] = { 22403, 22907 }, [FT_NCCL_F] = { 23003, 23007 },
};

/* First and last release of 2.3 to 2.30, by NCCL's tags. */
static const struct {
	uint8_t first, last;
} patches[] = {
	{ 5, 7 }, { 2, 8 }, { 6, 7 },  { 4, 4 }, { 3, 8 }, { 3, 4 }, { 6, 9 },
	{ 3, 3 }, { 4, 4 }, { 7, 12 }, { 4, 4 }, { 3, 3 }, { 1, 5 }, { 2, 5 },
	{ 1, 1 }, { 1, 6 }, { 1, 4 },  { 3, 5 }, { 5, 5 }, { 3, 3 }, { 4, 4 },
	{ 3, 3 }, { 1, 1 }, { 2, 6 },  { 3, 7 }, { 3, 9 }, { 2, 7 }, { 3, 7 },
};
enum { MINOR_FIRST = 3, MINORS = sizeof patches / sizeof patches[0] };

/* Of families that a cut clear-to-send leaves possible, the likeliest first. */
static const uint8_t likely[FT_NCCL_FAMILIES] = { FT_NCCL_E, FT_NCCL_F, FT_NCCL_D,
						  FT_NCCL_C, FT_NCCL_B, FT_NCCL_A };

int32_t ft_nccl_family_taken(const struct ft_nccl_followed *followed)
{
	for (unsigned i = 0; i < FT_NCCL_FAMILIES; i++) {
		if ((followed->families & 1u << likely[i]) != 0)
			return likely[i];
	}
	return -1;
}

bool ft_nccl_family_asks_once(const struct ft_nccl_followed *followed)
{
	const unsigned once = 1u << FT_NCCL_A | 1u << FT_NCCL_B;

	return followed->families != 0 && (followed->families & ~once) == 0;
}

bool ft_nccl_family_narrow(struct ft_nccl_followed *followed, uint8_t families)
{
	if ((followed->families & families) == 0)
		return false;
	followed->families &= families;
	return true;
}

void ft_nccl_versions_narrow(struct ft_nccl_followed *followed, int32_t first, int32_t last)
{
	int32_t later = followed->version_first > first ? followed->version_first : first;
	int32_t earlier = followed->version_last != 0 && followed->version_last < last
				  ? followed->version_last
				  : last;

	if (later > earlier)
		return;
	followed->version_first = later;
	followed->version_last = earlier;
}

void ft_nccl_minors_narrow(struct ft_nccl_followed *followed, unsigned minor_first,
			   unsigned minor_last)
{
	if (minor_first < MINOR_FIRST || minor_last >= MINOR_FIRST + MINORS)
		return;
	ft_nccl_versions_narrow(
		followed,
		(int32_t)(20000 + 100 * minor_first) + patches[minor_first - MINOR_FIRST].first,
		(int32_t)(20000 + 100 * minor_last) + patches[minor_last - MINOR_FIRST].last);
}

/* 1: a set-up and clear-to-sends agree. Less: one of them alone, or few; or a FIFO that no release has. */
static double certainty_of(const struct ft_nccl_followed *followed)
{
	bool metadata = followed->model.found_by == FT_NCCL_BY_METADATA;

	if (followed->slot_bytes != 0)
		return 0.5;
	if (followed->readable == 0)
		return metadata ? 0.9 : 0.5;
	if (metadata)
		return 1.0;
	return followed->readable >= 4 ? 0.99 : 0.9;
}

uint16_t ft_nccl_slot_bytes(const struct ft_nccl_followed *followed, enum ft_nccl_family family)
{
	return followed->slot_bytes != 0 ? followed->slot_bytes : ft_nccl_fifo(family)->slot_bytes;
}

uint16_t ft_nccl_slot_entries(const struct ft_nccl_followed *followed, enum ft_nccl_family family)
{
	const struct ft_nccl_fifo *layout = ft_nccl_fifo(family);
	uint16_t room = followed->slot_bytes / layout->entry_bytes;

	if (followed->slot_bytes == 0)
		return layout->entries;
	return room < FT_NCCL_REQUESTS_MAX ? room : FT_NCCL_REQUESTS_MAX;
}

static void tell_fifo(struct ft_nccl_followed *followed, enum ft_nccl_family family)
{
	const struct ft_nccl_fifo *layout = ft_nccl_fifo(family);
	struct ft_nccl_target *fifo = &followed->model.fifo;

	fifo->entries = ft_nccl_slot_entries(followed, family);
	fifo->entry_bytes = layout->entry_bytes;
	fifo->slot_bytes = ft_nccl_slot_bytes(followed, family);
	if (followed->base_bits == 0 && layout->slots == layout->slots_first)
		fifo->slots = layout->slots;
}

/* Facts that tell releases of one family apart. */
static void tell_versions(struct ft_nccl_followed *followed, enum ft_nccl_family family)
{
	struct ft_nccl_connection *model = &followed->model;

	ft_nccl_versions_narrow(followed, spans[family].first, spans[family].last);
	if (family == FT_NCCL_C && followed->slot_bytes == 0 && model->fifo.slots == 64)
		ft_nccl_versions_narrow(followed, 21207, 21806);
	if (family == FT_NCCL_C && followed->slot_bytes == 0 && model->fifo.slots == 256)
		ft_nccl_versions_narrow(followed, 21901, 21904);
	if (family == FT_NCCL_E && model->imm_order == FT_NCCL_ORDER_LITTLE)
		ft_nccl_versions_narrow(followed, 22403, 22809);
	if (family == FT_NCCL_E && model->imm_order == FT_NCCL_ORDER_BIG)
		ft_nccl_versions_narrow(followed, 22902, 22907);
	if (family == FT_NCCL_E && model->sizes.slot_bytes == FT_NCCL_RECORD_BYTES)
		ft_nccl_versions_narrow(followed, 22907, 22907);
	if (family == FT_NCCL_E && model->sizes.slot_bytes == FT_NCCL_SIZES_BYTES)
		ft_nccl_versions_narrow(followed, 22403, 22903);
	if (family == FT_NCCL_E && model->imm_content == FT_NCCL_IMM_ID)
		ft_nccl_versions_narrow(followed, 22907, 22907);
	model->version_first = followed->version_first;
	model->version_last = followed->version_last;
}

/* What all families that are left have alike. */
static void tell_common(struct ft_nccl_followed *followed)
{
	struct ft_nccl_connection *model = &followed->model;
	const struct ft_nccl_fifo *layout = NULL;
	int32_t first = INT32_MAX, last = 0;

	for (unsigned i = 0; i < FT_NCCL_FAMILIES; i++) {
		const struct ft_nccl_fifo *other = ft_nccl_fifo((enum ft_nccl_family)i);

		if ((followed->families & 1u << i) == 0)
			continue;
		if (layout != NULL && layout->slot_bytes != other->slot_bytes)
			return;
		layout = other;
		first = spans[i].first < first ? spans[i].first : first;
		last = spans[i].last > last ? spans[i].last : last;
	}
	if (layout == NULL || followed->slot_bytes != 0)
		return;
	model->fifo.entries = layout->entries;
	model->fifo.entry_bytes = layout->entry_bytes;
	model->fifo.slot_bytes = layout->slot_bytes;
	ft_nccl_versions_narrow(followed, first, last);
	model->version_first = followed->version_first;
	model->version_last = followed->version_last;
}

void ft_nccl_family_tell(struct ft_nccl_followed *followed)
{
	struct ft_nccl_connection *model = &followed->model;
	int32_t family = ft_nccl_family_taken(followed);

	model->has_family = family >= 0 && followed->families == 1u << family;
	if (model->has_family) {
		model->family = (enum ft_nccl_family)family;
		model->certainty = certainty_of(followed);
		tell_fifo(followed, model->family);
	} else {
		tell_common(followed);
	}
	ft_nccl_fifo_tell(followed);
	if (model->has_family)
		tell_versions(followed, model->family);
	model->fifo.is_known = followed->has_base;
}
