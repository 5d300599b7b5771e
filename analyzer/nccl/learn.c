#include "followed.h"

#include <decode/extremes.h>

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "cut_setups.h"
#include "family.h"
#include "fifo.h"
#include "later_setup.h"
#include "learn.h"
#include "spares.h"
#include "turns.h"

enum {
	MINOR_SIZES = 20, /* 2.20: the first with an array of sizes */
	/* 2.27: the first whose metadata has nothing behind the queue pairs in use */
	MINOR_CLEARED = 27,
	/* queue pairs taken from metadata that may have; 1 is usual, more than 8 rare */
	UNSURE_MOST = 16,
	GID_PREFIX = 8 /* bytes */
};

static bool is_infiniband(const struct ft_nccl_device *device)
{
	return device->lid != 0 && device->lid <= UINT16_MAX;
}

/* In one subnet, where packets need no global header. */
static bool is_beside(const struct ft_nccl_device *device, const struct ft_nccl_device *peer)
{
	return memcmp(device->gid, peer->gid, GID_PREFIX) == 0;
}

struct ft_nccl_place ft_nccl_place_of(const struct ft_nccl_device *device,
				      const struct ft_nccl_device *peer)
{
	struct ft_nccl_place place = { .by_lid = is_infiniband(device) && is_beside(device, peer) };

	if (place.by_lid)
		ft_nccl_put_lid(place.address, (uint16_t)device->lid);
	else
		memcpy(place.address, device->gid, sizeof place.address);
	return place;
}

static void fill_party(struct ft_nccl_party *party, const struct ft_nccl_metadata *metadata,
		       const struct ft_nccl_metadata *peer, uint8_t qp_count)
{
	assert(metadata->device_count != 0); /* the reader takes no metadata without */
	party->place_count = metadata->device_count;
	for (uint8_t i = 0; i < metadata->device_count; i++)
		party->places[i] = ft_nccl_place_of(&metadata->devices[i],
						    &peer->devices[i % peer->device_count]);
	for (uint8_t i = 0; i < qp_count; i++) {
		party->qpns[i] = metadata->qpns[i];
		party->qp_device[i] = (uint8_t)(i % metadata->device_count);
	}
}

static void fill_target(struct ft_nccl_target *target, const struct ft_nccl_metadata *metadata)
{
	target->addr = metadata->addr;
	target->rkey_count = metadata->device_count;
	for (uint8_t i = 0; i < metadata->device_count; i++)
		target->rkeys[i] = metadata->devices[i].rkey;
}

static uint16_t pmtu_of(const struct ft_nccl_exchange *exchange)
{
	uint16_t sender = exchange->sender->devices[0].mtu;
	uint16_t receiver = exchange->receiver->devices[0].mtu;

	return sender < receiver ? sender : receiver;
}

/* It has the last that was told. */
static void tell_device(char **name, const struct ft_nccl_metadata *metadata)
{
	if (metadata == NULL || metadata->name == NULL)
		return;
	free(*name);
	*name = strndup(metadata->name, metadata->name_length);
}

void ft_nccl_tcp_tell(struct ft_nccl_connection *model, const struct ft_nccl_exchange *exchange)
{
	model->found_by = FT_NCCL_BY_METADATA;
	model->has_tcp = true;
	model->connecting = exchange->connecting;
	model->listening = exchange->listening;
	model->connecting_port = exchange->connecting_port;
	model->listening_port = exchange->listening_port;
	memcpy(model->tcp_frames, exchange->frames, sizeof model->tcp_frames);
	tell_device(&model->connecting_device, exchange->sender);
	tell_device(&model->listening_device, exchange->receiver);
}

static void fill_layout(struct ft_nccl_followed *followed, const struct ft_nccl_form *form)
{
	struct ft_nccl_connection *model = &followed->model;

	followed->families = form->families;
	ft_nccl_minors_narrow(followed, form->minor_first, form->minor_last);
	if ((form->families & 1u << FT_NCCL_C) != 0)
		model->fifo.slots = ft_nccl_slots_of_c(form);
	followed->has_base = true;
	ft_nccl_family_tell(followed);
}

/* Of the FIFO of the only family left; 0: not known. */
static uint16_t slots_of(const struct ft_nccl_followed *followed, const struct ft_nccl_form *form)
{
	int32_t family = ft_nccl_family_taken(followed);
	const struct ft_nccl_fifo *layout;

	if (family < 0 || followed->families != 1u << family)
		return 0;
	if (family == FT_NCCL_C)
		return ft_nccl_slots_of_c(form);
	layout = ft_nccl_fifo((enum ft_nccl_family)family);
	return layout->slots == layout->slots_first ? layout->slots : 0;
}

void ft_nccl_setup_narrow(struct ft_nccl_followed *followed, const struct ft_nccl_form *form)
{
	if (!ft_nccl_family_narrow(followed, form->families) && followed->families != 0)
		return;
	ft_nccl_minors_narrow(followed, form->minor_first, form->minor_last);
	if (followed->slot_bytes == 0) /* else it is no FIFO of the release */
		ft_nccl_fifo_narrow(followed, slots_of(followed, form));
	ft_nccl_family_tell(followed);
}

void ft_nccl_setup_sizes(struct ft_nccl_connection *model, const struct ft_nccl_metadata *receiver)
{
	const struct ft_nccl_form *form = receiver->form;

	if (form->minor_first < MINOR_SIZES)
		return;
	fill_target(&model->sizes, receiver);
	model->sizes.is_known = true;
	model->sizes.slot_bytes = form->minor_first == form->minor_last && form->minor_last >= 29
					  ? FT_NCCL_RECORD_BYTES
					  : FT_NCCL_SIZES_BYTES;
}

static uint8_t qps_of(const struct ft_nccl_exchange *exchange)
{
	return (uint8_t)ft_smaller(exchange->sender->qp_count, exchange->receiver->qp_count);
}

static uint8_t devices_of(const struct ft_nccl_exchange *exchange)
{
	return (uint8_t)ft_larger(exchange->sender->device_count, exchange->receiver->device_count);
}

bool ft_nccl_setup_is_unsure(const struct ft_nccl_exchange *exchange)
{
	return exchange->sender->form->minor_first < MINOR_CLEARED &&
	       qps_of(exchange) > devices_of(exchange);
}

void ft_nccl_setup_fill(struct ft_nccl_followed *followed, const struct ft_nccl_exchange *exchange,
			uint8_t used)
{
	struct ft_nccl_connection *model = &followed->model;
	const struct ft_nccl_metadata *sender = exchange->sender, *receiver = exchange->receiver;
	uint8_t qps = qps_of(exchange);

	model->is_set_up = true;
	fill_party(&model->sender, sender, receiver, qps);
	fill_party(&model->receiver, receiver, sender, qps);
	fill_target(&model->fifo, sender);
	model->devices = devices_of(exchange);
	assert(model->devices != 0);
	followed->unsure = ft_nccl_setup_is_unsure(exchange);
	followed->named = !followed->unsure || qps < UNSURE_MOST;
	model->qp_count = followed->unsure ? (uint8_t)ft_larger(model->devices, used) : qps;
	model->qps_per_device = (uint8_t)(model->qp_count / model->devices);
}

void ft_nccl_setup_count(struct ft_nccl_followed *followed, const struct ft_nccl_exchange *exchange)
{
	uint8_t qps = qps_of(exchange);

	followed->numbered = true;
	ft_nccl_turns_begin(followed, qps / followed->model.devices);
}

static void fill(struct ft_nccl_followed *followed, const struct ft_nccl_exchange *exchange)
{
	struct ft_nccl_connection *model = &followed->model;

	followed->vni = exchange->vni;
	followed->any_vni = true;
	ft_nccl_tcp_tell(model, exchange);
	ft_nccl_setup_fill(followed, exchange, 0);
	ft_nccl_setup_sizes(model, exchange->receiver);
	followed->pmtu = pmtu_of(exchange);
	fill_layout(followed, exchange->sender->form);
	ft_nccl_setup_count(followed, exchange);
}

static struct ft_nccl_end end_of(const struct ft_nccl_followed *followed, uint16_t vlan,
				 const struct ft_nccl_party *party, enum ft_nccl_role role,
				 uint8_t lane)
{
	const struct ft_nccl_place *place = &party->places[party->qp_device[lane]];
	struct ft_nccl_end end = {
		.qpn = party->qpns[lane],
		.vni = followed->vni,
		.told_vni = followed->vni,
		.told_vlan = (uint16_t)(vlan + 1),
		.connection = followed->model.connection,
		.lane = lane,
		.role = (uint8_t)role,
		.by_lid = place->by_lid,
		.any_vni = true,
		.unsure = followed->unsure && lane >= followed->model.devices,
	};

	memcpy(end.address, place->address, sizeof end.address);
	return end;
}

/* The first packet of either direction has PSN 0. */
static void expect_start(struct ft_nccl_lane *lane)
{
	lane->data = lane->cts = (struct ft_nccl_psns){ .known = true };
	lane->counted = true;
}

static bool is_untagged(const struct ft_nccl_end *end)
{
	return end->told_vlan == 1;
}

/*
 * What has its name in another VLAN is another queue pair: packets in either are that one's. Where one of the two was not
 * tagged nothing is told, since captures may lack the tag of one direction.
 */
static void tell_apart(const struct ft_nccl_connections *connections, const struct ft_nccl_end *end)
{
	const struct ft_nccl_end *other = ft_nccl_ends_elsewhere(&connections->ends, end);

	if (other == NULL || is_untagged(other) || is_untagged(end) ||
	    end->told_vni != UINT32_MAX || connections->sink.apart == NULL)
		return;
	connections->sink.apart(connections->sink.context, (uint16_t)(other->told_vlan - 1));
	connections->sink.apart(connections->sink.context, (uint16_t)(end->told_vlan - 1));
}

int ft_nccl_setup_claim(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
			uint16_t vlan, uint8_t lane, enum ft_nccl_role role)
{
	const struct ft_nccl_connection *model = &followed->model;
	const struct ft_nccl_party *party =
		role == FT_NCCL_AT_SENDER ? &model->sender : &model->receiver;
	struct ft_nccl_end end = end_of(followed, vlan, party, role, lane);
	int error = ft_nccl_claim(connections, &end);

	if (error == 0 && role == FT_NCCL_AT_RECEIVER && !end.unsure)
		tell_apart(connections, &end);
	return error;
}

static int claim_lanes(struct ft_nccl_connections *connections, struct ft_nccl_followed *followed,
		       uint16_t vlan, uint8_t count)
{
	int error = ft_nccl_add_lanes(followed, count);

	for (uint8_t i = 0; error == 0 && i < count; i++) {
		expect_start(&followed->lanes[i]);
		error = ft_nccl_setup_claim(connections, followed, vlan, i, FT_NCCL_AT_SENDER);
		if (error == 0)
			error = ft_nccl_setup_claim(connections, followed, vlan, i,
						    FT_NCCL_AT_RECEIVER);
		if (error == 0 && i < followed->model.qp_count)
			ft_nccl_note(connections, followed, i, FT_NCCL_N1);
	}
	return error;
}

/* Metadata of old releases may name more than there are. */
static uint8_t count_of(const struct ft_nccl_exchange *exchange)
{
	uint8_t count = qps_of(exchange);

	if (exchange->sender->form->minor_first < MINOR_CLEARED && count > UNSURE_MOST)
		return UNSURE_MOST;
	return count;
}

void ft_nccl_setup_begin(struct ft_nccl_connections *connections,
			 const struct ft_nccl_exchange *exchange, uint8_t count)
{
	struct ft_nccl_followed *followed = ft_nccl_follow(connections);

	if (followed == NULL)
		return;
	followed->model.first_frame = exchange->frames[0];
	followed->model.first_ts_ns = exchange->ts_ns;
	fill(followed, exchange);
	if (claim_lanes(connections, followed, exchange->vlan, count) != 0)
		connections->dropped++;
	ft_nccl_spares_claim(connections, followed, exchange);
	ft_nccl_announce_targets(connections, followed);
	ft_nccl_announce(connections, followed, exchange->frames[1], exchange->ts_ns);
	ft_nccl_setup_catch_up(connections, followed, exchange->frames[0]);
}

void ft_nccl_connections_learn(struct ft_nccl_connections *connections,
			       const struct ft_nccl_exchange *exchange)
{
	uint8_t count = count_of(exchange);

	if (ft_nccl_setup_late(connections, exchange, count) || count == 0 ||
	    ft_nccl_later_setup_waits(connections, exchange, count))
		return;
	ft_nccl_setup_begin(connections, exchange, count);
}
