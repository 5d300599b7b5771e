#pragma once

#include <capture/source.h>
#include <report/model.h>

/* Makes the report model from what the engine has counted. */
struct ft_summary;
struct ft_engine;

int ft_summary_create(struct ft_summary **summary);  /* 0 or -ENOMEM */
void ft_summary_destroy(struct ft_summary *summary); /* NULL is fine */

/* The report so far; it and all its strings stay until the next call. Ends the program (engine/no_memory.h) when memory ends. */
const struct ft_report *ft_summary_make(struct ft_summary *summary, struct ft_engine *engine,
					const struct ft_source *source);
