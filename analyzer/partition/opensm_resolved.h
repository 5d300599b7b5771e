#pragma once

#include <partition/arena.h>

#include <partition/declared.h>

/*
 * An OpenSM map in which no rule overrides another: a rule for everyone stays, and every port that
 * it does not describe, or that is named by GUID too, follows with the membership OpenSM gives it.
 * Such a map means the same whether the last or the most specific entry wins. GUIDs that are not in
 * the fabric are taken for channel adapters, as they will be when they come back.
 */
struct ft_resolved {
	struct ft_declared declared; /* shares all but partitions with the original */
	struct ft_arena *arena;
};

/* False: the subnet manager's port is not known, so SELF cannot be resolved. */
bool ft_resolvable(const struct ft_declared *declared);

/* 0 or -ENOMEM. */
int ft_resolve(struct ft_resolved *resolved, const struct ft_declared *declared);
void ft_resolved_release(struct ft_resolved *resolved);
