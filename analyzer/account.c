#include "account.h"

#include <errno.h>

#include "account_findings.h"

static int init_by_map(struct ft_account *account, const struct ft_engine_config *config)
{
	uint32_t tenants = (uint32_t)ft_map_declared(account->map)->tenant_count;
	int error = ft_account_findings_init(account, config->findings);

	if (error == 0)
		error = ft_strays_init(&account->strays);
	if (error == 0)
		error = ft_peaks_init(&account->peaks, tenants);
	if (error == 0)
		error = ft_congestion_init(&account->congestion, tenants, account->seed);
	account->congestion.by_segment = ft_map_declared(account->map)->segment_count != 0;
	if (error == 0)
		error = ft_pauses_init(&account->pauses, account->map, config->link_gbps);
	return error;
}

int ft_account_init(struct ft_account *account, const struct ft_engine_config *config,
		    const struct ft_map *map)
{
	*account =
		(struct ft_account){ .map = map, .decode = &config->decode, .seed = config->seed };
	return map != NULL ? init_by_map(account, config) : 0;
}

void ft_account_free(struct ft_account *account)
{
	ft_mirror_sequence_destroy(account->mirror);
	ft_silences_free(&account->silences);
	ft_pauses_free(&account->pauses);
	ft_congestion_free(&account->congestion);
	ft_peaks_free(&account->peaks);
	ft_strays_free(&account->strays);
	ft_account_findings_free(account);
}

int ft_account_change_map(struct ft_account *account, const struct ft_map *map)
{
	uint32_t tenants = (uint32_t)ft_map_declared(map)->tenant_count;
	int error = ft_peaks_grow(&account->peaks, tenants);

	if (error == 0)
		error = ft_congestion_grow(&account->congestion, tenants);
	if (error == 0)
		error = ft_pauses_change_map(&account->pauses, map);
	if (error != 0)
		return error;
	ft_account_findings_change_map(account);
	account->congestion.by_segment = ft_map_declared(map)->segment_count != 0;
	account->map = map;
	return 0;
}

int ft_account_open(struct ft_account *account, const struct ft_source *source)
{
	size_t inputs = ft_source_input_count(source);
	int error;

	if (account->mirror != NULL)
		return 0;
	error = ft_mirror_sequence_create(&account->mirror, inputs);

	return error != 0 ? error : ft_silences_init(&account->silences, (uint32_t)inputs);
}

void ft_account_settle(struct ft_account *account)
{
	ft_strays_settle(&account->strays, &account->findings);
}

/* Seldom on a mirror port: the packet is decoded anew for it. */
__attribute__((noinline)) static void see_pause(struct ft_account *account,
						const struct ft_item *item)
{
	struct ft_packet packet;

	ft_item_decode(item, account->decode, &packet);
	ft_pauses_see(&account->pauses, &packet, item->frame->ts_ns);
}

void ft_account_number(struct ft_account *account, const struct ft_item *item)
{
	if ((item->observed.has & FT_OBSERVED_MIRROR) != 0 && item->sub == 0)
		ft_mirror_sequence_see(account->mirror, item->frame->input, &item->observed);
}

void ft_account_count(struct ft_account *account, const struct ft_frame *frame,
		      const struct ft_mirror_number *number)
{
	ft_mirror_sequence_count(account->mirror, frame->input, frame->ts_ns, number);
}

int ft_account_tell(struct ft_account *account, const struct ft_source *source,
		    const struct ft_item *item, const struct ft_item_more *more)
{
	if (item->copy) {
		if (item->marks && account->map != NULL)
			ft_congestion_see(&account->congestion, item);
		return 0;
	}
	if (item->gap)
		ft_silences_lost(&account->silences, item->frame->input, more->gap.from_ns,
				 more->gap.to_ns, more->gap.lost);
	if (account->map == NULL)
		return 0;
	if (item->pause)
		see_pause(account, item);
	if (ft_tells_of_congestion(item))
		ft_congestion_see(&account->congestion, item);
	if (item->anew)
		ft_strays_answered(&account->strays, more->half, more->next_psn);
	return item->rules == 0 ? 0 : ft_account_findings_add(account, source, item, more);
}

int ft_account_add(struct ft_account *account, const struct ft_source *source,
		   const struct ft_item *item, const struct ft_item_more *more)
{
	if (item->sub == 0 && !item->copy)
		ft_account_frame(account, item->frame, item->from);
	return ft_account_tell(account, source, item, more);
}

bool ft_account_at_once(struct ft_account *account, const struct ft_batch *batch)
{
	const bool far = ft_peaks_are_far(&account->peaks);
	const struct ft_item *item = batch->items, *end = item + batch->count;

	if (batch->copies || batch->stretch.frames == 0 ||
	    !ft_account_stretch(account, &batch->stretch))
		return false;
	for (; item < end; item++) {
		if (far && item + FT_PEAKS_AHEAD < end)
			ft_peaks_prefetch(&account->peaks, item[FT_PEAKS_AHEAD].from);
		ft_peaks_add(&account->peaks, item->from, batch->stretch.first_ns,
			     item->frame->wire);
	}
	return true;
}

unsigned ft_account_quiet(struct ft_account *account, const struct ft_item *items, unsigned count)
{
	const uint32_t input = account->silences.current;
	const bool far = ft_peaks_are_far(&account->peaks);
	struct ft_silence_run run = ft_silence_run_begin(&account->silences);
	unsigned i = 0;

	for (; i < count && items[i].quiet; i++) {
		const struct ft_item *item = &items[i];
		uint64_t ts_ns = item->observed.ts_ns;

		if (item->frame->input != input || !ft_silence_run_goes_on(&run, ts_ns))
			break;
		if (far && i + FT_PEAKS_AHEAD < count)
			ft_peaks_prefetch(&account->peaks, item[FT_PEAKS_AHEAD].from);
		ft_peaks_add(&account->peaks, item->from, ts_ns, item->frame->wire);
	}
	ft_silence_run_end(&run);
	return i;
}

enum ft_account_wants ft_account_wants_more(const struct ft_item *item)
{
	if (item->copy)
		return item->marks ? FT_ACCOUNT_ITEM : FT_ACCOUNT_NOTHING;
	if (item->quiet && item->usual && item->framing == FT_FRAMING_STRANGE)
		return FT_ACCOUNT_STRANGE;
	if (item->gap || item->anew || item->pause || item->framing || item->rules != 0 ||
	    ft_tells_of_congestion(item))
		return FT_ACCOUNT_ITEM;
	return item->sub == 0 ? FT_ACCOUNT_FRAME : FT_ACCOUNT_NOTHING;
}
