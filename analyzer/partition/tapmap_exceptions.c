#include "tapmap.h"

#include <string.h>

struct exception_reading {
	struct ft_exception exception;
	struct ft_keys *ids;
};

static struct ft_exception *exception_of(void *into)
{
	return &((struct exception_reading *)into)->exception;
}

static void read_id(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct exception_reading *at = into;
	const char *id = ft_read_name(reading, value);

	at->exception.id = id;
	if (id == NULL)
		return;
	if (ft_keys_find(at->ids, id, strlen(id)) != FT_NONE)
		ft_refuse(reading, value, "duplicate-id", "exception \"%.80s\" is declared twice",
			  id);
	else if (ft_keys_insert(at->ids, id, strlen(id), 0) != 0)
		reading->builder->out_of_memory = true;
}

static void read_kind(struct ft_reading *reading, struct ft_value value, void *into)
{
	static const char *const kinds[] = { "shared-service", "management", "multicast", NULL };
	int kind = ft_read_word(reading, value, kinds);

	if (kind >= 0)
		exception_of(into)->kind = (enum ft_exception_kind)kind;
}

static void read_from_tenants(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_tenant_list list = { 0 };

	ft_tapmap_tenant_list(reading, value, &list);
	exception_of(into)->from_tenants = list.tenants;
	exception_of(into)->from_count = list.count;
}

static void read_to_tenant(struct ft_reading *reading, struct ft_value value, void *into)
{
	exception_of(into)->to_tenant = ft_read_tenant(reading, value);
}

static void read_direction(struct ft_reading *reading, struct ft_value value, void *into)
{
	static const char *const words[] = { "both", "to", "from", NULL };
	int word = ft_read_word(reading, value, words);

	if (word >= 0)
		exception_of(into)->direction = (enum ft_except_direction)word;
}

static void read_pkey(struct ft_reading *reading, struct ft_value value, void *into)
{
	uint64_t base;

	if (!ft_read_hex(reading, value, 1, FT_PKEY_DEFAULT, "pkey-out-of-range", &base))
		return;
	exception_of(into)->has_pkey = true;
	exception_of(into)->base = (uint16_t)base;
}

static void read_class(struct ft_reading *reading, struct ft_value value, void *into)
{
	static const char *const words[] = { "sm", "sa",   "pm", "bm",     "dm",
					     "cm", "snmp", "cc", "vendor", NULL };
	int word = ft_read_word(reading, value, words); /* in the order of enum ft_mgmt_class_bit */

	if (word >= 0)
		exception_of(into)->classes |= 1u << word;
}

static void read_classes(struct ft_reading *reading, struct ft_value value, void *into)
{
	exception_of(into)->has_classes = ft_read_array(reading, value, read_class, into);
}

static bool multicast(const struct ft_prefix *address)
{
	static const uint8_t v4[12] = { [10] = 0xff, 0xff };
	bool is_v4 = memcmp(address->address, v4, sizeof v4) == 0;

	return is_v4 ? address->address[12] >> 4 == 0xe : address->address[0] == 0xff;
}

static void read_mgid(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct ft_prefix *mgid = &exception_of(into)->mgid;

	if (ft_read_address(reading, value, false, mgid) && !multicast(mgid))
		ft_refuse(reading, value, "mgid-not-multicast", "this is no multicast address");
}

enum { ID, KIND, FROM, TO, DIRECTION, PKEY, CLASSES, MGID, TENANTS };

static const struct ft_object_field fields[] = {
	[ID] = { "id", true, read_id },
	[KIND] = { "kind", true, read_kind },
	[FROM] = { "from_tenants", false, read_from_tenants },
	[TO] = { "to_tenant", false, read_to_tenant },
	[DIRECTION] = { "direction", false, read_direction },
	[PKEY] = { "pkey", false, read_pkey },
	[CLASSES] = { "classes", false, read_classes },
	[MGID] = { "mgid", false, read_mgid },
	[TENANTS] = { "tenants", false, read_from_tenants },
	{ 0 },
};

/* Which keys each kind has, and which of them it must have. */
static const struct {
	uint32_t allowed, required;
} kinds[] = {
	[FT_EXCEPT_SHARED_SERVICE] = { 1 << ID | 1 << KIND | 1 << FROM | 1 << TO | 1 << DIRECTION |
					       1 << PKEY,
				       1 << TO },
	[FT_EXCEPT_MANAGEMENT] = { 1 << ID | 1 << KIND | 1 << FROM | 1 << TO | 1 << DIRECTION |
					   1 << PKEY | 1 << CLASSES,
				   0 },
	[FT_EXCEPT_MULTICAST] = { 1 << ID | 1 << KIND | 1 << MGID | 1 << TENANTS,
				  1 << MGID | 1 << TENANTS },
};

static void check_keys(struct ft_reading *reading, struct ft_value value,
		       const struct ft_exception *exception, uint32_t seen)
{
	enum ft_exception_kind kind = exception->kind;

	for (uint32_t i = 0; fields[i].name != NULL; i++) {
		if ((seen & ~kinds[kind].allowed) >> i & 1)
			ft_refuse(reading, value, "key-not-allowed",
				  "\"%s\" has no meaning in this kind of exception",
				  fields[i].name);
		if ((kinds[kind].required & ~seen) >> i & 1)
			ft_refuse(reading, value, "missing-key", "\"%s\" is missing",
				  fields[i].name);
	}
	if (exception->direction != FT_DIR_BOTH && (seen >> TO & 1) == 0)
		ft_refuse(reading, value, "missing-key", "\"direction\" without \"to_tenant\"");
}

static void read_exception(struct ft_reading *reading, struct ft_value value, void *into)
{
	struct exception_reading at = { .exception.to_tenant = FT_NONE, .ids = into };
	struct ft_exception *added;
	uint32_t seen;

	if (!ft_read_object(reading, value, fields, &at, &seen))
		return;
	check_keys(reading, value, &at.exception, seen);
	at.exception.any_from = (seen & (1 << FROM | 1 << TENANTS)) == 0;
	at.exception.origin = ft_reading_origin(reading, value);
	added = ft_builder_add(reading->builder, &reading->builder->exceptions);
	if (added != NULL)
		*added = at.exception;
}

int ft_tapmap_exceptions(struct ft_reading *reading, const struct ft_long_array *exceptions)
{
	struct ft_keys ids = { 0 };
	int failed = ft_read_elements(reading, exceptions, read_exception, &ids);

	ft_keys_release(&ids);
	return failed;
}
