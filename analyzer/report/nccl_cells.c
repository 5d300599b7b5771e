#include "nccl_cells.h"

#include <inttypes.h>

#include "nccl_words.h"

void ft_nccl_table_open(struct ft_table *table, const char *align, const char *const *heads)
{
	ft_table_init(table, align);
	for (size_t i = 0; i < table->columns; i++)
		ft_table_name(table, heads[i]);
}

void ft_nccl_table_close(struct ft_table *table, struct ft_page *page)
{
	int error = ft_table_write(table, &page->line, 2, NULL);

	if (error != 0)
		page->error = error;
	ft_table_free(table);
}

void ft_nccl_id_cell(struct ft_table *table, uint32_t id)
{
	if (id == FT_NCCL_NONE)
		ft_table_format(table, ".");
	else
		ft_table_format(table, "%" PRIu32, id);
}

void ft_nccl_rank_cell(struct ft_table *table, bool has_rank, int32_t rank)
{
	if (has_rank)
		ft_table_format(table, "%" PRId32, rank);
	else
		ft_table_format(table, "?");
}

/* The first address; how many more there are. */
void ft_nccl_places_cell(struct ft_table *table, const struct ft_nccl_place *places, unsigned count)
{
	struct ft_nccl_text text;

	if (count == 0)
		ft_table_format(table, "?");
	else if (count == 1)
		ft_table_format(table, "%s", ft_nccl_place_text(&text, places));
	else
		ft_table_format(table, "%s +%u", ft_nccl_place_text(&text, places), count - 1);
}
