#pragma once

/*
 * Extended transport headers in wire order, which is the order of their FT_HAS_ bits:
 * row(NAME, name, bytes, with) for each; `with` is handed through.
 */
/* clang-format off */
#define FT_EXTENSIONS(row, with) \
	row(RDETH, rdeth, 4, with) \
	row(DETH, deth, 8, with) \
	row(XRCETH, xrceth, 4, with) \
	row(FETH, feth, 4, with) \
	row(RETH, reth, 16, with) \
	row(ATOMICETH, atomiceth, 28, with) \
	row(AETH, aeth, 4, with) \
	row(ATOMICACK, atomicack, 8, with) \
	row(IMMDT, immdt, 4, with) \
	row(IETH, ieth, 4, with)
/* clang-format on */

enum { FT_FIRST_EXTENSION_BIT = 7 };
