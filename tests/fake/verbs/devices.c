#include "fake.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "mlx5_0:1,mlx5_1:2": devices and how many ports they have. */
struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = calloc(DEVICES_MAX + 1, sizeof *list);
	struct script script;
	char *rest = script.devices;
	int found = 0;

	script_read(&script);
	if (list == NULL)
		fake_abort("no memory");
	for (char *word; (word = strsep(&rest, ",")) != NULL && found < DEVICES_MAX;) {
		struct fake_device *device = calloc(1, sizeof *device);
		char *colon = strchr(word, ':');

		if (device == NULL || colon == NULL)
			fake_abort("devices= is a list of name:ports");
		*colon = '\0';
		device->ports = (unsigned)strtoul(colon + 1, NULL, 10);
		snprintf(device->device.name, sizeof device->device.name, "%s", word);
		snprintf(device->device.dev_name, sizeof device->device.dev_name, "uverbs%d",
			 found);
		if (device->ports == 0)
			free(device); /* devices=none:0 */
		else
			list[found++] = &device->device;
	}
	if (script.list_error != 0) {
		ibv_free_device_list(list);
		errno = script.list_error;
		return NULL;
	}
	*count = found;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	for (size_t i = 0; list[i] != NULL; i++)
		free(list[i]);
	free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
	return device->name;
}

static void open_events(struct fake_context *context)
{
	if (pipe(context->events) != 0)
		fake_abort("no pipe");
	context->verbs.context.async_fd = context->events[0];
}

/* The device outlives the list that it was found in. */
struct ibv_context *ibv_open_device(struct ibv_device *device)
{
	struct fake_context *context = calloc(1, sizeof *context);
	struct fake_device *own = malloc(sizeof *own);

	if (context == NULL || own == NULL)
		fake_abort("no memory");
	script_read(&context->script);
	if (context->script.open_error != 0) {
		errno = context->script.open_error;
		free(own);
		free(context);
		return NULL;
	}
	memcpy(own, device, sizeof *own);
	context->verbs.context.device = &own->device;
	fake_fill_tables(context);
	fake_sysfs_make(context);
	if (context->script.account[0] != '\0')
		context->account = fopen(context->script.account, "we");
	fake_frames_read(&context->frames, context->script.frames);
	open_events(context);
	fake_verbs_account.alive++;
	return &context->verbs.context;
}

static void write_account(FILE *file)
{
	const struct fake_verbs_account *a = &fake_verbs_account;

	fprintf(file,
		"{\"frames\": %llu, \"dropped\": %llu, \"too_long\": %llu, \"flushed\": %llu, "
		"\"posted\": %llu, \"posts\": %llu, \"resets\": %u}\n",
		(unsigned long long)a->frames, (unsigned long long)a->dropped,
		(unsigned long long)a->too_long, (unsigned long long)a->flushed,
		(unsigned long long)a->posted, (unsigned long long)a->posts, a->resets);
	fclose(file);
}

int ibv_close_device(struct ibv_context *closed)
{
	struct fake_context *context = fake_context_of(closed);

	if (context->pds + context->mrs + context->channels + context->cqs + context->qps +
		    context->flows !=
	    0)
		fake_abort("device closed before what was made on it");
	if (context->account != NULL)
		write_account(context->account);
	fake_sysfs_close(context);
	fake_frames_free(&context->frames);
	close(context->events[0]);
	if (context->events[1] >= 0)
		close(context->events[1]);
	free(closed->device);
	free(context);
	fake_verbs_account.alive--;
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	const struct script *script = &fake_context_of(context)->script;

	*attr = (struct ibv_device_attr){
		.node_guid = htobe64(UINT64_C(0x0002c903000a0b0c)),
		.max_qp_wr = (int)script->max_wr,
		.max_sge = (int)script->max_sge,
		.max_cqe = (int)script->max_cqe,
		.phys_port_cnt = (uint8_t)((struct fake_device *)(void *)context->device)->ports,
	};
	return 0;
}

int fake_query_port(struct fake_context *context, uint8_t port, struct ibv_port_attr *attr,
		    size_t size)
{
	const struct script *script = &context->script;

	memset(attr, 0, size);
	if (port == 0 ||
	    port > ((struct fake_device *)(void *)context->verbs.context.device)->ports)
		return EINVAL;
	attr->state = script->down ? IBV_PORT_DOWN : IBV_PORT_ACTIVE;
	attr->gid_tbl_len = 8;
	attr->pkey_tbl_len = 4;
	attr->active_width = 2;   /* 4 lanes */
	attr->active_speed = 128; /* NDR */
	attr->link_layer = script->infiniband ? IBV_LINK_LAYER_INFINIBAND : IBV_LINK_LAYER_ETHERNET;
	attr->lid = script->infiniband ? 17 : 0;
	return 0;
}

int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *pkey)
{
	static const uint16_t pkeys[] = { 0xffff, 0x8001, 0, 0x0002 };

	(void)context;
	(void)port;
	if (index < 0 || (size_t)index >= sizeof pkeys / sizeof pkeys[0])
		return -1;
	*pkey = htobe16(pkeys[index]);
	return 0;
}

int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
		      struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
	static const struct {
		uint8_t gid[16];
		enum ibv_gid_type type;
	} gids[] = {
		{ { 0xfe, 0x80, [8] = 2, 0, 0xc9, 0xff, 0xfe, 0xa, 0xb, 0xc },
		  IBV_GID_TYPE_ROCE_V1 },
		{ { [10] = 0xff, 0xff, 10, 0, 0, 1 }, IBV_GID_TYPE_ROCE_V2 },
	};

	(void)context;
	(void)flags;
	if (index >= sizeof gids / sizeof gids[0] || size < sizeof *entry)
		return ENODATA;
	*entry = (struct ibv_gid_entry){ .gid_index = index,
					 .port_num = port,
					 .gid_type = gids[index].type };
	memcpy(entry->gid.raw, gids[index].gid, sizeof entry->gid.raw);
	return 0;
}
