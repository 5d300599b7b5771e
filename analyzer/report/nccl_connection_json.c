#include "nccl_rows.h"

#include "nccl_words.h"

void ft_nccl_places_json(struct ft_document *json, const struct ft_nccl_place *places, size_t count)
{
	struct ft_nccl_text text;

	ft_member_begin(json, "addresses", '[');
	for (size_t i = 0; i < count; i++)
		ft_member_text(json, NULL, ft_nccl_place_text(&text, &places[i]));
	ft_member_end(json, ']');
}

void ft_nccl_rank_json(struct ft_document *json, bool has_rank, int32_t rank)
{
	if (has_rank)
		ft_member_signed(json, "rank", rank);
	else
		ft_member_null(json, "rank");
}

void ft_nccl_id_json(struct ft_document *json, const char *name, uint32_t id)
{
	if (id == FT_NCCL_NONE)
		ft_member_null(json, name);
	else
		ft_member_number(json, name, id);
}

/* Those of devices that are not there are zero. */
void ft_nccl_rkeys_json(struct ft_document *json, const uint32_t *rkeys, size_t count)
{
	while (count > 1 && rkeys[count - 1] == 0)
		count--;
	ft_member_begin(json, "rkeys", '[');
	for (size_t i = 0; i < count; i++)
		ft_member_address(json, NULL, rkeys[i]);
	ft_member_end(json, ']');
}

static void known_number(struct ft_document *json, const char *name, uint32_t number,
			 uint32_t unknown)
{
	if (number == unknown)
		ft_member_null(json, name);
	else
		ft_member_number(json, name, number);
}

static void party(struct ft_document *json, const char *name, const struct ft_nccl_party *side,
		  size_t qps)
{
	ft_member_begin(json, name, '{');
	ft_nccl_places_json(json, side->places, side->place_count);
	ft_member_begin(json, "qpns", '[');
	for (size_t i = 0; i < qps; i++)
		known_number(json, NULL, side->qpns[i], FT_NCCL_NONE);
	ft_member_end(json, ']');
	ft_member_begin(json, "qp_device", '[');
	for (size_t i = 0; i < qps; i++)
		ft_member_number(json, NULL, side->qp_device[i]);
	ft_member_end(json, ']');
	ft_nccl_rank_json(json, side->has_rank, side->rank);
	ft_member_end(json, '}');
}

/* Which device's a key is can be told once all are met. */
static void device_keys(struct ft_document *json, const struct ft_nccl_connection *connection,
			const struct ft_nccl_target *target)
{
	ft_nccl_rkeys_json(json, target->rkeys, connection->lacks_devices ? 0 : target->rkey_count);
}

static void fifo(struct ft_document *json, const struct ft_nccl_connection *connection, bool keys)
{
	const struct ft_nccl_target *target = &connection->fifo;

	if (!target->is_known) {
		ft_member_null(json, "cts_fifo");
		return;
	}
	ft_member_begin(json, "cts_fifo", '{');
	ft_member_address(json, "addr", target->addr);
	if (keys)
		device_keys(json, connection, target);
	known_number(json, "slots", target->slot_bytes != 0 ? target->slots : 0, 0);
	known_number(json, "entries_per_slot", target->entries, 0);
	known_number(json, "entry_bytes", target->entry_bytes, 0);
	known_number(json, "slot_stride_bytes", target->slot_bytes, 0);
	ft_member_end(json, '}');
}

static void sizes(struct ft_document *json, const struct ft_nccl_connection *connection, bool keys)
{
	const struct ft_nccl_target *target = &connection->sizes;

	if (!target->is_known) {
		ft_member_null(json, "sizes_array");
		return;
	}
	ft_member_begin(json, "sizes_array", '{');
	ft_member_address(json, "addr", target->addr);
	if (keys)
		device_keys(json, connection, target);
	ft_member_number(json, "slot_stride_bytes",
			 target->slot_bytes > 0 ? target->slot_bytes : UINT64_MAX);
	ft_member_end(json, '}');
}

static void family(struct ft_document *json, const struct ft_nccl_connection *connection)
{
	const char letter[2] = { ft_nccl_family_letter(connection->family), 0 };
	struct ft_nccl_text first, last;

	ft_member_begin(json, "family", '{');
	ft_member_text(json, "name", connection->has_family ? letter : NULL);
	ft_member_real(json, "certainty", connection->certainty);
	ft_member_begin(json, "versions", '[');
	ft_member_text(json, NULL, ft_nccl_release_text(&first, connection->version_first));
	ft_member_text(json, NULL, ft_nccl_release_text(&last, connection->version_last));
	ft_member_end(json, ']');
	ft_member_end(json, '}');
}

static void tcp_side(struct ft_document *json, const char *name, const struct ft_nccl_place *place,
		     uint16_t port)
{
	struct ft_nccl_text text;

	ft_member_begin(json, name, '[');
	ft_member_text(json, NULL, ft_nccl_place_text(&text, place));
	ft_member_number(json, NULL, port);
	ft_member_end(json, ']');
}

/* Left out where the set-up has none. */
static void device(struct ft_document *json, const char *member, const char *name)
{
	if (name != NULL)
		ft_member_text(json, member, name);
}

static void tcp(struct ft_document *json, const struct ft_nccl_connection *connection)
{
	if (!connection->has_tcp) {
		ft_member_null(json, "metadata_tcp");
		return;
	}
	ft_member_begin(json, "metadata_tcp", '{');
	tcp_side(json, "connecting_side", &connection->connecting, connection->connecting_port);
	tcp_side(json, "listening_side", &connection->listening, connection->listening_port);
	ft_member_begin(json, "frames", '[');
	ft_member_number(json, NULL, connection->tcp_frames[0]);
	ft_member_number(json, NULL, connection->tcp_frames[1]);
	ft_member_end(json, ']');
	device(json, "connecting_device", connection->connecting_device);
	device(json, "listening_device", connection->listening_device);
	ft_member_end(json, '}');
}

static void networks(struct ft_document *json, const char *name,
		     const struct ft_nccl_connection *connection, uint32_t kind)
{
	ft_member_begin(json, name, '[');
	for (uint8_t i = 0; i < connection->net_count; i++)
		if ((connection->nets[i] & FT_NCCL_NET_VNI) == kind)
			ft_member_number(json, NULL, connection->nets[i] & ~FT_NCCL_NET_VNI);
	ft_member_end(json, ']');
}

static void known(struct ft_document *json, const char *name, enum ft_nccl_known value)
{
	if (value == FT_NCCL_UNKNOWN)
		ft_member_null(json, name);
	else
		ft_member_bool(json, name, value == FT_NCCL_YES);
}

static void immediate(struct ft_document *json, const struct ft_nccl_connection *connection)
{
	static const char *const orders[] = { [FT_NCCL_ORDER_UNKNOWN] = NULL,
					      [FT_NCCL_ORDER_LITTLE] = "little",
					      [FT_NCCL_ORDER_BIG] = "big" };
	static const char *const contents[] = { [FT_NCCL_IMM_UNKNOWN] = NULL,
						[FT_NCCL_IMM_LENGTH] = "length",
						[FT_NCCL_IMM_ID] = "id" };

	ft_member_begin(json, "imm", '{');
	ft_member_text(json, "order", orders[connection->imm_order]);
	ft_member_text(json, "content", contents[connection->imm_content]);
	ft_member_end(json, '}');
}

static void counts(struct ft_document *json, const struct ft_nccl_connection *connection)
{
	ft_member_begin(json, "counts", '{');
	ft_member_number(json, "cts", connection->cts);
	ft_member_number(json, "messages", connection->messages_told);
	ft_member_number(json, "payload_bytes", connection->payload_bytes);
	ft_member_begin(json, "retransmitted_packets", '{');
	ft_member_number(json, "data", connection->retransmitted_data);
	ft_member_number(json, "cts", connection->retransmitted_cts);
	ft_member_end(json, '}');
	ft_member_number(json, "missing_packets", connection->missing_packets);
	ft_member_end(json, '}');
}

static void failover(struct ft_document *json, const struct ft_nccl_failover *failover)
{
	if (!failover->probes_named && !failover->recovery_named)
		return;
	ft_member_begin(json, "failover", '{');
	ft_member_bool(json, "probe_qps", failover->probes_named);
	ft_member_bool(json, "recovery_qps", failover->recovery_named);
	ft_member_number(json, "probes", failover->probes);
	ft_member_number(json, "recovery_asked", failover->asked);
	ft_member_number(json, "recovery_answered", failover->answered);
	ft_member_number(json, "recovery_confirmed", failover->confirmed);
	if (failover->first_frame == 0) {
		ft_member_null(json, "frames");
	} else {
		ft_member_begin(json, "frames", '[');
		ft_member_number(json, NULL, failover->first_frame);
		ft_member_number(json, NULL, failover->last_frame);
		ft_member_end(json, ']');
	}
	ft_member_end(json, '}');
}

void ft_nccl_connection_json(struct ft_document *json, const struct ft_nccl_connection *connection,
			     bool keys)
{
	ft_member_begin(json, NULL, '{');
	ft_member_number(json, "connection", connection->connection);
	party(json, "sender", &connection->sender, connection->qp_count);
	party(json, "receiver", &connection->receiver, connection->qp_count);
	if (connection->net_count != 0) {
		networks(json, "vnis", connection, FT_NCCL_NET_VNI);
		networks(json, "vlans", connection, 0);
	}
	fifo(json, connection, keys);
	sizes(json, connection, keys);
	family(json, connection);
	ft_member_text(json, "found_by", ft_nccl_found_by_word(connection->found_by));
	tcp(json, connection);
	ft_nccl_id_json(json, "channel", connection->channel);
	known_number(json, "devices", connection->lacks_devices ? 0 : connection->devices, 0);
	known_number(
		json, "qps_per_connection",
		connection->lacks_devices || connection->lacks_qps ? 0 : connection->qps_per_device,
		0);
	known(json, "split_data_on_qps",
	      connection->qps_per_device > 1 ? connection->split : FT_NCCL_UNKNOWN);
	known(json, "adaptive_routing", connection->adaptive);
	immediate(json, connection);
	counts(json, connection);
	failover(json, &connection->failover);
	ft_member_end(json, '}');
}
