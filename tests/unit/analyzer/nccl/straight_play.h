#pragma once

#include "follow_play.h"
#include "followed.h"

/* An audit that is shown one connection by hand, packet by packet as the flow stage has them. */
enum { SHORT = 640, LONG = MTU + SHORT };

struct follow *audit_start(void);

/* The connection; whether it goes straight. */
const struct ft_nccl_followed *only_one(const struct follow *follow);
bool is_straight(const struct follow *follow);

/* What does not go straight is looked at. Returns its frame. */
uint64_t pass(struct follow *follow, const struct packet *packet);
uint64_t pass_cts(struct follow *follow, uint64_t k);
