/* What permits a crossing: section 6 of the verdict rules. */
#include "case.h"

struct class_range {
	uint8_t first, last;
	enum ft_mgmt_class_bit bit;
};
static const struct class_range class_ranges[] = {
	{ 0x01, 0x01, FT_CLASS_SM },     { 0x81, 0x81, FT_CLASS_SM },
	{ 0x03, 0x03, FT_CLASS_SA },     { 0x04, 0x04, FT_CLASS_PM },
	{ 0x05, 0x05, FT_CLASS_BM },     { 0x06, 0x06, FT_CLASS_DM },
	{ 0x07, 0x07, FT_CLASS_CM },     { 0x08, 0x08, FT_CLASS_SNMP },
	{ 0x21, 0x21, FT_CLASS_CC },     { 0x09, 0x0f, FT_CLASS_VENDOR },
	{ 0x30, 0x4f, FT_CLASS_VENDOR },
};

static uint32_t class_bit(uint8_t mgmt_class)
{
	for (unsigned i = 0; i < sizeof class_ranges / sizeof *class_ranges; i++)
		if (mgmt_class >= class_ranges[i].first && mgmt_class <= class_ranges[i].last)
			return class_ranges[i].bit;
	return 0;
}

/* ---- the default partition ---- */

static bool covers_default(const struct ft_exception *exception)
{
	return exception->kind == FT_EXCEPT_MANAGEMENT &&
	       (!exception->has_pkey || (exception->base & 0x7fff) == FT_PKEY_DEFAULT);
}

bool ft_except_default_data(const struct ft_declared *declared)
{
	for (size_t i = 0; i < declared->exception_count; i++)
		if (covers_default(&declared->exceptions[i]) &&
		    !declared->exceptions[i].has_classes)
			return true;
	return false;
}

enum ft_answer ft_except_bars_class(const struct ft_case *frame)
{
	const struct ft_declared *declared = frame->map->declared;
	bool any = false;
	uint32_t listed = 0;

	for (size_t i = 0; i < declared->exception_count; i++) {
		const struct ft_exception *exception = &declared->exceptions[i];

		if (!covers_default(exception))
			continue;
		any = true;
		listed |= exception->has_classes ? exception->classes : ~(uint32_t)0;
	}
	if (!any || listed == ~(uint32_t)0)
		return FT_NO;
	if (!ft_case_knows(frame, FT_NEED_CLASS))
		return FT_MAYBE;
	return (listed & class_bit(frame->key->mgmt_class)) == 0 ? FT_YES : FT_NO;
}

/* ---- crossings ---- */

static bool is_from(const struct ft_exception *exception, const struct ft_tenants *set)
{
	if (exception->any_from)
		return set->kind != FT_NOBODY;
	for (size_t i = 0; i < exception->from_count; i++)
		if (ft_tenants_hold(set, exception->from_tenants[i]))
			return true;
	return false;
}

static bool is_to(const struct ft_exception *exception, const struct ft_tenants *set)
{
	return exception->to_tenant == FT_NONE ? set->kind != FT_NOBODY
					       : ft_tenants_hold(set, exception->to_tenant);
}

static bool between(const struct ft_exception *exception, const struct ft_ruling *ruling)
{
	if (exception->direction != FT_DIR_FROM && is_from(exception, &ruling->src) &&
	    is_to(exception, &ruling->dst))
		return true;
	return exception->direction != FT_DIR_TO && is_from(exception, &ruling->dst) &&
	       is_to(exception, &ruling->src);
}

static enum ft_answer of_class(const struct ft_case *frame, const struct ft_exception *exception)
{
	enum ft_answer management = ft_case_is_management(frame);

	if (!exception->has_classes)
		return FT_YES;
	if (management != FT_YES)
		return management;
	if (!ft_case_knows(frame, FT_NEED_CLASS))
		return FT_MAYBE;
	return (exception->classes & class_bit(frame->key->mgmt_class)) != 0 ? FT_YES : FT_NO;
}

static bool is_to_group(const struct ft_case *frame, const struct ft_exception *exception)
{
	struct ft_net_prefix group = ft_net_of(exception->mgid.address, exception->mgid.bits);
	struct ft_net_prefix dst = ft_net_of(frame->key->dst, exception->mgid.bits);

	return frame->group && frame->key->has_gids && group.high == dst.high &&
	       group.low == dst.low;
}

static enum ft_answer permits(const struct ft_case *frame, const struct ft_ruling *ruling,
			      const struct ft_exception *exception)
{
	bool fits = exception->kind == FT_EXCEPT_MULTICAST
			    ? is_to_group(frame, exception) && is_from(exception, &ruling->src)
			    : between(exception, ruling);

	if (!fits)
		return FT_NO;
	if (exception->has_pkey && !ft_case_knows(frame, FT_NEED_PKEY))
		return FT_MAYBE;
	if (exception->has_pkey && (exception->base & 0x7fff) != frame->base)
		return FT_NO;
	return of_class(frame, exception);
}

enum ft_answer ft_except(const struct ft_case *frame, const struct ft_ruling *ruling,
			 uint32_t *exception)
{
	const struct ft_declared *declared = frame->map->declared;
	enum ft_answer answer = FT_NO;

	for (uint32_t i = 0; i < declared->exception_count; i++) {
		enum ft_answer permitted = permits(frame, ruling, &declared->exceptions[i]);

		if (permitted == FT_YES) {
			*exception = i;
			return FT_YES;
		}
		if (permitted == FT_MAYBE)
			answer = FT_MAYBE;
	}
	return answer;
}
