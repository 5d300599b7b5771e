#include "item.h"

#include <stddef.h>
#include <string.h>

#include <decode/opcode.h>
#include <flow/hash.h>

#include "item_fill.h"
#include "observe.h"

static bool is_connected(const struct ft_packet *packet)
{
	enum ft_service service = ft_opcode_service(packet->opcode);

	return packet->dest_qp >= 2 &&
	       (service == FT_RC || service == FT_UC || service == FT_RD || service == FT_XRC);
}

/* Ordinary queue pairs: one half-connection whatever its P_Key and VLAN. */
static void fill_flow_key(uint32_t dest_qp, const struct ft_check_key *key,
			  struct ft_flow_key *flow)
{
	*flow = (struct ft_flow_key){
		.dest_qp = dest_qp,
		.vni = key->has_vni ? key->vni : FT_FLOW_NO_VNI,
		.base = dest_qp >= 2 ? FT_FLOW_ANY_BASE : key->pkey & 0x7fff,
		.vlan = dest_qp >= 2 ? FT_FLOW_ANY_VLAN : key->vlan,
		.by_lid = !key->has_gids,
	};
	if (key->has_gids) {
		memcpy(flow->src, key->src, sizeof flow->src);
		memcpy(flow->dst, key->dst, sizeof flow->dst);
	} else {
		ft_flow_put_lid(flow->src, key->slid);
		ft_flow_put_lid(flow->dst, key->dlid);
	}
}

/* Members of a check key that are the same for each usual packet, native or not, in an overlay or in none. */
static void make_usual(struct ft_check_key *key)
{
	key->qkey = 0;
	key->qp_kind = 2;
	key->has_gids = key->has_macs = !key->native;
	key->mgmt_class = 0;
	key->known = FT_NEED_ALL;
	if (!key->native)
		key->slid = key->dlid = 0;
}

/* What the verdict depends on besides the flow's own key; where only the usual differs, the digest of that. */
static uint64_t digest_of_rest(const struct ft_check_key *key, uint64_t seed)
{
	const size_t shared = offsetof(struct ft_check_key, pkey);
	const uint8_t *macs = (const uint8_t *)key + offsetof(struct ft_check_key, dmac);
	struct ft_check_key usual = *key;

	make_usual(&usual);
	if (memcmp(&usual, key, sizeof usual) != 0)
		return ft_hash((const uint8_t *)key + shared, sizeof *key - shared, seed);
	return ft_tags_digest(
		&(struct ft_tags){
			.macs = { ft_load64(macs), ft_load32(macs + 8) },
			.pkey = key->pkey,
			.vlan = key->vlan,
			.service = key->service,
		},
		seed);
}

/* As fill_flow_key() has left them. */
static void take_ends(const struct ft_flow_key *flow, struct ft_check_key *key)
{
	if (key->native) {
		memset(key->src, 0, sizeof key->src);
		memset(key->dst, 0, sizeof key->dst);
		key->slid = ft_flow_lid(flow->src);
		key->dlid = ft_flow_lid(flow->dst);
	} else {
		memcpy(key->src, flow->src, sizeof key->src);
		memcpy(key->dst, flow->dst, sizeof key->dst);
	}
}

void ft_item_key(const struct ft_item *item, struct ft_check_key *key)
{
	const struct ft_observed *observed = &item->observed;

	if (!item->usual) {
		*key = item->key;
		return;
	}
	key->native = item->flow_key.by_lid != 0;
	key->has_vni = item->flow_key.vni != FT_FLOW_NO_VNI;
	key->vni = key->has_vni ? item->flow_key.vni : 0;
	take_ends(&item->flow_key, key);
	make_usual(key);
	key->pkey = observed->pkey;
	key->vlan = observed->vlan;
	memcpy(key->dmac, observed->dmac, sizeof key->dmac);
	memcpy(key->smac, observed->smac, sizeof key->smac);
	key->service = observed->opcode >> 5;
}

/* Numbers of sampled packets say nothing of loss: they are not followed. */
static void fill_sampling(struct ft_item *item, const struct ft_packet *packet)
{
	item->sampled_of = 0;
	for (unsigned i = 0; i < packet->tunnel_count; i++) {
		const struct ft_tunnel *tunnel = &packet->tunnels[i];

		if (tunnel->kind != FT_TUNNEL_SFLOW5)
			continue;
		item->sampled_of = tunnel->sampling_rate != 0 ? tunnel->sampling_rate : 1;
		item->sampled_wire = tunnel->frame_length - tunnel->stripped;
	}
}

void ft_item_fill(struct ft_item *item, const struct ft_frame *frame,
		  const struct ft_packet *packet, unsigned sub, uint64_t seed)
{
	const unsigned needed = FT_NEED_ADDRESSES | FT_NEED_PKEY | FT_NEED_DEST_QP;
	struct ft_check_key *key = &item->key;

	item->frame = frame;
	item->record = 0;
	item->sub = (uint16_t)sub;
	item->bth_at = 0;
	item->kind = (uint8_t)ft_frame_key(packet, frame->bytes, frame->captured, key);
	item->known = key->known;
	item->truncated = packet->truncated;
	item->unopened = packet->unopened;
	item->dest_qp = packet->dest_qp;
	item->pause = (packet->has & FT_HAS_MACCTRL) != 0;
	item->connected = item->followed = item->usual = item->sets_up = false;
	item->has_flow = (item->kind == FT_FRAME_JUDGED || item->kind == FT_FRAME_BAD_ICRC ||
			  item->kind == FT_FRAME_NEVER_JUDGED) &&
			 (key->known & needed) == needed;
	fill_sampling(item, packet);
	ft_observe(packet, frame, &item->observed);
	if (!item->has_flow)
		return;
	item->connected = is_connected(packet);
	item->followed = item->kind == FT_FRAME_JUDGED && packet->dest_qp >= 2 &&
			 (packet->has & FT_HAS_BTH) != 0 && item->sampled_of == 0;
	if (packet->dest_qp == 1)
		item->setup = ft_connection_setup_read(packet, frame->bytes);
	item->sets_up = packet->dest_qp == 1 && item->setup.kind != FT_SETUP_NONE;
	fill_flow_key(packet->dest_qp, key, &item->flow_key);
	item->hash = ft_flow_key_hash(&item->flow_key, seed);
	item->judged_by = digest_of_rest(key, seed);
}

void ft_item_damage(struct ft_item *item, const uint8_t *bytes, uint32_t size)
{
	ft_item_key(item, &item->key);
	item->dest_qp = ft_item_dest_qp(item);
	item->kind = FT_FRAME_BAD_ICRC;
	item->sampled_of = item->bth_at = 0;
	item->unopened = FT_UNOPENED_NONE;
	item->followed = item->usual = false;
	ft_observe_damage(&item->observed, bytes, size);
}

void ft_item_decode(const struct ft_item *item, const struct ft_decode_config *config,
		    struct ft_packet *packet)
{
	struct ft_decode_input input = ft_decode_input_of(item->frame);
	struct ft_decode_rest rest;
	bool more = ft_decode(config, &input, packet, &rest);

	for (unsigned sub = 0; more && sub < item->sub; sub++)
		more = ft_decode_more(config, &input, packet, &rest);
}
