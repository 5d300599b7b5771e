#include "lint.h"

static const struct ft_partition *partition_of(const struct ft_declared *declared, unsigned base)
{
	for (size_t i = 0; i < declared->partition_count; i++)
		if (declared->partitions[i].base == base)
			return &declared->partitions[i];
	return NULL;
}

static bool names_itself(const struct ft_exception *exception)
{
	return exception->from_count == 1 && exception->from_tenants[0] == exception->to_tenant;
}

/* The P_Key in the MGID of IP multicast, or 0. */
static unsigned mgid_base(const struct ft_exception *exception)
{
	const uint8_t *mgid = exception->mgid.address;
	unsigned signature = (unsigned)mgid[2] << 8 | mgid[3];

	if (exception->kind != FT_EXCEPT_MULTICAST || (signature != 0x401b && signature != 0x601b))
		return 0;
	return ((unsigned)mgid[4] << 8 | mgid[5]) & FT_PKEY_DEFAULT;
}

/* Without such a partition the default P_Key is everyone's for management, of the classes that these list. */
static bool rules_default_base(const struct ft_exception *exception)
{
	return exception->kind == FT_EXCEPT_MANAGEMENT && exception->base == FT_PKEY_DEFAULT;
}

static const char *why_never(const struct ft_declared *declared,
			     const struct ft_exception *exception)
{
	if (exception->has_pkey && declared->partition_count != 0 &&
	    partition_of(declared, exception->base) == NULL && !rules_default_base(exception))
		return "no partition has its P_Key";
	if (mgid_base(exception) != 0 && declared->partition_count != 0 &&
	    partition_of(declared, mgid_base(exception)) == NULL)
		return "no partition has the P_Key in its MGID";
	if (names_itself(exception))
		return "it is between a tenant and itself";
	if (!exception->any_from && exception->from_count == 0)
		return "its list of tenants is empty";
	if (exception->has_classes && exception->classes == 0)
		return "its list of classes is empty";
	return NULL;
}

void ft_lint_exceptions(struct ft_lint *lint)
{
	for (size_t i = 0; i < lint->declared->exception_count; i++) {
		const struct ft_exception *exception = &lint->declared->exceptions[i];
		const char *why = why_never(lint->declared, exception);

		if (why != NULL)
			ft_lint_say(lint, FT_WARNING, "exception-never-matches", exception->origin,
				    "exception \"%.60s\" permits nothing: %s", exception->id, why);
	}
}
