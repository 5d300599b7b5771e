#pragma once

#include <partition/declared.h>

/*
 * A map that takes the place of another in the midst of a run. What was counted by tenant goes on by the same
 * indices, and what was found under the old map can still be named.
 */
struct ft_succession {
	size_t exception_count;     /* that `before` names, retired ones included */
	const uint32_t *exceptions; /* the new index of each; owned by the new map */
};

/*
 * Give the tenants of `next`, which is not compiled yet, the indices that those of the same name have in `before`;
 * tenants that `next` does not declare keep theirs and are retired. Exceptions of `before` that `next` does
 * not declare stand behind those it does. Nothing refers to `before` afterwards. 0, or -ENOMEM and `next` as it was.
 */
int ft_declared_succeed(struct ft_declared *next, const struct ft_declared *before,
			struct ft_succession *succession);
