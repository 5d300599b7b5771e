#pragma once

#include <firmware-config/passivity.h>

/*
 * Whether giving up rights keeps a process from sending on this kernel: tried by one of its own, on the loopback
 * interface of a network namespace that is made for it and goes with it, past queueing disciplines. Not tried where
 * the caller may not make one.
 */
enum ft_self_test ft_self_test_run(void);
