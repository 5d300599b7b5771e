#pragma once

#include <flow/loss.h>
#include <flow/table.h>

#include "tracker_scripts.h"

/* A tracker and the one connection of the scripts. Time and frames go on with each packet that is sent. */
struct world {
	struct ft_flow_table *table;
	struct ft_tracker *tracker;
	struct ft_loss_evidence *evidence;
	uint64_t ts_ns, frame, bytes;
	uint64_t messages[FT_MESSAGE_KINDS];
};

/* Of the half that this side sends. */
struct ft_flow_key world_key(char from);

/* `met`: as of a script. Close it in the end. */
void world_open(struct world *world, uint8_t met);
void world_close(struct world *world);

/* What the tracker says of the packet; its message is added up. */
struct ft_step world_send(struct world *world, const struct packet *packet);
void world_send_all(struct world *world, const struct packet *packets, size_t count);

/* Requests from `first` to `last`, all of which ask for an ACK; one comes for the last. */
void world_ask(struct world *world, uint32_t first, uint32_t last);
