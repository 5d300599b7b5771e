#pragma once

/* What the program's exit status says. */
enum ft_exit {
	FT_EXIT_CLEAN = 0,
	FT_EXIT_FINDINGS = 1,
	FT_EXIT_FAILED = 2,        /* could not do it, or not all of it */
	FT_EXIT_NOT_EVIDENCED = 3, /* nothing wrong seen, but too little seen to say so */
};
