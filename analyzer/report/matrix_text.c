#include "matrix_text.h"

#include <errno.h>
#include <stdlib.h>

#include "human.h"
#include "table.h"
#include "utf8.h"

enum { GRID_TENANTS = 6, GRID_WIDTH = 120, LIST_PAIRS = 24, EXCEPTIONS = 12, EXCEPTION_PAIRS = 8 };

struct grid {
	const char *names[GRID_TENANTS];
	size_t count;
	bool fits;
};

static bool has_name(const struct grid *grid, const char *name)
{
	for (size_t i = 0; i < grid->count; i++)
		if (strcmp(grid->names[i], name) == 0)
			return true;
	return false;
}

static void add_name(struct grid *grid, const char *name)
{
	if (has_name(grid, name))
		return;
	if (grid->count == GRID_TENANTS)
		grid->fits = false;
	else
		grid->names[grid->count++] = name;
}

static bool is_unknown(const char *name)
{
	return strcmp(name, "unknown") == 0;
}

/* Tenants in order of appearance (the matrix is sorted by name), `unknown` last. */
static struct grid grid_of(const struct ft_report *report)
{
	struct grid grid = { .fits = true };
	bool unknown = false;

	for (size_t i = 0; i < report->pair_count; i++) {
		const struct ft_report_pair *pair = &report->matrix[i];

		unknown |= is_unknown(pair->from) || is_unknown(pair->to);
		if (!is_unknown(pair->from))
			add_name(&grid, pair->from);
	}
	for (size_t i = 0; i < report->pair_count; i++)
		if (!is_unknown(report->matrix[i].to))
			add_name(&grid, report->matrix[i].to);
	if (unknown)
		add_name(&grid, "unknown");
	return grid;
}

static const struct ft_report_pair *find_pair(const struct ft_report *report, const char *from,
					      const char *to)
{
	for (size_t i = 0; i < report->pair_count; i++)
		if (strcmp(report->matrix[i].from, from) == 0 &&
		    strcmp(report->matrix[i].to, to) == 0)
			return &report->matrix[i];
	return NULL;
}

static const char *mark(const struct ft_report_pair *pair)
{
	if (pair->violating > 0)
		return "!";
	if (pair->undecided > 0)
		return "?";
	return pair->judged == 0 ? "*" : "";
}

static void grid_cell(struct ft_table *table, const struct ft_report_pair *pair)
{
	struct ft_human count, bytes;

	if (pair == NULL) {
		ft_table_name(table, ".");
		ft_table_name(table, "");
		return;
	}
	ft_table_format(table, "%s%s", mark(pair), ft_human_count(&count, pair->packets));
	ft_table_name(table, ft_human_bytes(&bytes, pair->bytes));
}

static void write_table(struct ft_page *page, struct ft_table *table)
{
	int error = ft_table_write(table, &page->line, FT_PAGE_MARGIN, NULL);

	if (error != 0)
		page->error = error;
	ft_table_free(table);
}

static void write_grid(struct ft_page *page, const struct ft_report *report,
		       const struct grid *grid)
{
	char align[2 * GRID_TENANTS + 2] = { '<' };
	struct ft_table table;

	for (size_t i = 0; i < grid->count; i++)
		memset(align + 1 + 2 * i, '>', 2);
	ft_table_init(&table, align);
	ft_table_name(&table, "from \\ to");
	for (size_t i = 0; i < grid->count; i++) {
		ft_table_name(&table, grid->names[i]);
		ft_table_name(&table, "");
	}
	for (size_t row = 0; row < grid->count; row++) {
		ft_table_name(&table, grid->names[row]);
		for (size_t i = 0; i < grid->count; i++)
			grid_cell(&table, find_pair(report, grid->names[row], grid->names[i]));
	}
	write_table(page, &table);
}

static void say_more(struct ft_page *page, size_t count, const char *what)
{
	if (count > 0)
		ft_page_row(page, "", "and %zu %s%s more, all of them in --json", count, what,
			    ft_plural(count));
}

static int by_weight(const void *left, const void *right)
{
	const struct ft_report_pair *a = *(const struct ft_report_pair *const *)left;
	const struct ft_report_pair *b = *(const struct ft_report_pair *const *)right;

	if ((a->violating > 0) != (b->violating > 0))
		return a->violating > 0 ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a < b ? -1 : 1;
}

static void list_row(struct ft_table *table, const struct ft_report_pair *pair)
{
	struct ft_human human;

	ft_table_name(table, pair->from);
	ft_table_name(table, pair->to);
	ft_table_name(table, ft_human_count(&human, pair->packets));
	ft_table_name(table, ft_human_bytes(&human, pair->bytes));
	if (pair->violating > 0)
		ft_table_format(table, "%s violating", ft_human_count(&human, pair->violating));
	else if (pair->undecided > 0)
		ft_table_format(table, "%s, %s undecided", pair->verdict,
				ft_human_count(&human, pair->undecided));
	else
		ft_table_name(table, pair->verdict);
}

static void write_list(struct ft_page *page, const struct ft_report *report)
{
	const struct ft_report_pair **order = malloc(report->pair_count * sizeof(*order));
	struct ft_table table;

	if (order == NULL) {
		page->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < report->pair_count; i++)
		order[i] = &report->matrix[i];
	qsort(order, report->pair_count, sizeof(*order), by_weight);
	ft_table_init(&table, "<<>><");
	for (size_t column = 0; column < 5; column++)
		ft_table_name(&table,
			      (const char *[]){ "from", "to", "frames", "bytes", "" }[column]);
	for (size_t i = 0; i < report->pair_count && i < LIST_PAIRS; i++)
		list_row(&table, order[i]);
	write_table(page, &table);
	say_more(page, report->pair_count > LIST_PAIRS ? report->pair_count - LIST_PAIRS : 0,
		 "pair");
	free(order);
}

static bool permits(const struct ft_report_pair *pair, const char *id)
{
	for (size_t i = 0; i < pair->exception_count; i++)
		if (strcmp(pair->exceptions[i], id) == 0)
			return true;
	return false;
}

/* The pairs that an exception permitted, on a line of its own. */
static void write_exception(struct ft_page *page, const struct ft_report *report, const char *id)
{
	char *pairs = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&pairs, &size);
	unsigned count = 0;

	if (out == NULL) {
		page->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < report->pair_count; i++) {
		const struct ft_report_pair *pair = &report->matrix[i];

		if (!permits(pair, id) || count++ >= EXCEPTION_PAIRS)
			continue;
		fprintf(out, "%s %s>%s", count > 1 ? "," : "", pair->from, pair->to);
	}
	if (count > EXCEPTION_PAIRS)
		fprintf(out, " and %u pairs more", count - EXCEPTION_PAIRS);
	if (fclose(out) == 0)
		ft_page_row(page, "", "exception %s permitted%s", id, pairs);
	free(pairs);
}

/* Has an earlier pair, or an earlier place of this one, named the id already? */
static bool named_before(const struct ft_report *report, size_t pair, size_t place)
{
	const char *id = report->matrix[pair].exceptions[place];

	for (size_t i = 0; i < pair; i++)
		if (permits(&report->matrix[i], id))
			return true;
	for (size_t i = 0; i < place; i++)
		if (strcmp(report->matrix[pair].exceptions[i], id) == 0)
			return true;
	return false;
}

static int by_name(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static size_t count_different(const char **ids, size_t count)
{
	size_t different = count > 0;

	qsort(ids, count, sizeof(*ids), by_name);
	for (size_t i = 1; i < count; i++)
		different += strcmp(ids[i], ids[i - 1]) != 0;
	return different;
}

/* How many exceptions permitted some pair. */
static size_t count_exceptions(struct ft_page *page, const struct ft_report *report)
{
	size_t count = 0, room = 0;
	const char **ids;

	for (size_t i = 0; i < report->pair_count; i++)
		room += report->matrix[i].exception_count;
	ids = malloc((room + 1) * sizeof(*ids));
	if (ids == NULL) {
		page->error = -ENOMEM;
		return 0;
	}
	for (size_t i = 0; i < report->pair_count; i++)
		for (size_t place = 0; place < report->matrix[i].exception_count; place++)
			ids[count++] = report->matrix[i].exceptions[place];
	count = count_different(ids, count);
	free(ids);
	return count;
}

static void write_exceptions(struct ft_page *page, const struct ft_report *report)
{
	const size_t all = count_exceptions(page, report);
	size_t shown = 0;

	for (size_t i = 0; i < report->pair_count && shown < EXCEPTIONS; i++)
		for (size_t place = 0;
		     place < report->matrix[i].exception_count && shown < EXCEPTIONS; place++) {
			if (named_before(report, i, place))
				continue;
			write_exception(page, report, report->matrix[i].exceptions[place]);
			shown++;
		}
	say_more(page, all > shown ? all - shown : 0, "exception");
}

void ft_matrix_text(struct ft_page *page, const struct ft_report *report)
{
	struct grid grid = grid_of(report);
	size_t columns = 12;

	for (size_t i = 0; i < grid.count; i++)
		columns += 10 + (ft_utf8_columns(grid.names[i]) > 6 ? ft_utf8_columns(grid.names[i])
								    : 6);
	if (report->pair_count == 0)
		return;
	ft_page_row(page, "TENANTS",
		    "frames and bytes from tenant (row) to tenant; ! violations, ? undecided, * "
		    "none judged");
	if (grid.fits && columns <= GRID_WIDTH)
		write_grid(page, report, &grid);
	else
		write_list(page, report);
	write_exceptions(page, report);
	ft_line_char(&page->line, '\n');
}
