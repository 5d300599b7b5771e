#include <engine/flow_choice.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "flow_where_fields.h"

struct test {
	const struct ft_where_field *field;
	unsigned expression;
	struct ft_where_value value;
};

int ft_flow_choice_init(struct ft_flow_choice *choice)
{
	*choice = (struct ft_flow_choice){
		.words = ft_arena_create(),
		.tests = { .item_size = sizeof(struct test) },
		.top = SIZE_MAX,
	};
	return choice->words == NULL ? -ENOMEM : 0;
}

void ft_flow_choice_free(struct ft_flow_choice *choice)
{
	ft_list_release(&choice->tests);
	ft_arena_destroy(choice->words);
}

__attribute__((format(printf, 2, 3))) static int complain(struct ft_flow_complaint *complaint,
							  const char *format, ...)
{
	va_list values;

	va_start(values, format);
	vsnprintf(complaint->text, sizeof complaint->text, format, values);
	va_end(values);
	return -EINVAL;
}

/* What was written, as far as it has room in a complaint: "...", if there is more of it. */
struct shown {
	char text[84];
};

static const char *show(struct shown *shown, const char *written)
{
	const size_t room = sizeof shown->text - sizeof "...";
	const char *more = strlen(written) > room ? "..." : "";

	snprintf(shown->text, sizeof shown->text, "%.*s%s", (int)room, written, more);
	return shown->text;
}

static int complain_of_field(struct ft_flow_complaint *complaint, const char *expression)
{
	char names[128] = "";
	struct shown shown;

	ft_where_fields_name(names, sizeof names);
	return complain(complaint, "%s: not FIELD=VALUE; fields are %s", show(&shown, expression),
			names);
}

static int add_test(struct ft_flow_choice *choice, const struct ft_where_field *field,
		    struct ft_where_value value, struct ft_flow_complaint *complaint)
{
	struct shown shown;
	struct test *test;

	if (!field->read(&value) || value.number > field->most)
		return complain(complaint, "%s=%s: not %s", field->name,
				show(&shown, value.written), field->wanted);
	test = ft_list_add(&choice->tests);
	if (test == NULL)
		return -ENOMEM;
	*test = (struct test){ field, choice->expressions, value };
	choice->nccl |= ft_where_is_of_nccl(field, &value);
	choice->packetless |= ft_where_is_of_no_packet(field, &value);
	return 0;
}

/* A comma or backslash of the value. */
static bool is_escaped(const char *text)
{
	return text[0] == '\\' && (text[1] == ',' || text[1] == '\\');
}

/* Characters up to the comma that ends the value. */
static size_t written_size(const char *text)
{
	size_t size = 0;

	while (text[size] != 0 && text[size] != ',')
		size += is_escaped(text + size) ? 2 : 1;
	return size;
}

static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from != 0; from++) {
		from += is_escaped(from) ? 1 : 0;
		*to++ = *from;
	}
	*to = 0;
}

/* Its text is NULL without memory. */
static struct ft_where_value value_of(struct ft_arena *words, const char *written, size_t size)
{
	char *text = ft_arena_text(words, written, size);
	struct ft_where_value value = { .text = text,
					.written = ft_arena_text(words, written, size) };

	if (text != NULL)
		unescape(text);
	if (value.written == NULL)
		value.text = NULL;
	return value;
}

static bool is_condition(const char *text)
{
	const char *equals = strchr(text, '=');

	return equals != NULL && ft_where_field_find(text, (size_t)(equals - text)) != NULL;
}

static int add_tests(struct ft_flow_choice *choice, const struct ft_where_field *field,
		     const char *values, struct ft_flow_complaint *complaint)
{
	for (;;) {
		size_t size = written_size(values);
		struct ft_where_value value = value_of(choice->words, values, size);
		struct shown shown;
		int error;

		if (value.text == NULL)
			return -ENOMEM;
		if (is_condition(value.text))
			return complain(complaint, "%s: another condition takes another --where",
					show(&shown, value.written));
		error = add_test(choice, field, value, complaint);
		if (error != 0)
			return error;
		if (values[size] == 0)
			break;
		values += size + 1;
	}
	choice->expressions++;
	return 0;
}

int ft_flow_choice_where(struct ft_flow_choice *choice, const char *expression,
			 struct ft_flow_complaint *complaint)
{
	size_t size = strcspn(expression, "=");
	const struct ft_where_field *field = ft_where_field_find(expression, size);

	if (field == NULL || expression[size] == 0)
		return complain_of_field(complaint, expression);
	return add_tests(choice, field, expression + size + 1, complaint);
}

int ft_flow_choice_tenant(struct ft_flow_choice *choice, const char *name,
			  struct ft_flow_complaint *complaint)
{
	const char *text = ft_arena_text(choice->words, name, strlen(name));
	const struct ft_where_value value = { .text = text, .written = text };
	int error = text == NULL
			    ? -ENOMEM
			    : add_test(choice, ft_where_field_find("tenant", 6), value, complaint);

	choice->expressions++;
	return error;
}

int ft_flow_choice_check(const struct ft_flow_choice *choice, const struct ft_map *map,
			 struct ft_flow_complaint *complaint)
{
	const struct test *tests = choice->tests.items;
	struct shown shown;

	for (size_t i = 0; i < choice->tests.count; i++) {
		const struct ft_where_field *field = tests[i].field;

		if (field->exists == NULL)
			continue;
		if (map == NULL && !ft_where_is_of_nccl(field, &tests[i].value))
			return complain(complaint, "%s=%s: needs a map: -m FILE", field->name,
					show(&shown, tests[i].value.written));
		if (!field->exists(&tests[i].value, map))
			return complain(complaint, "%s=%s: not %s", field->name,
					show(&shown, tests[i].value.written), field->wanted);
	}
	return 0;
}

/* Tests of one expression stand together: one of them must hold. */
bool ft_flow_choice_takes(const struct ft_flow_choice *choice, const struct ft_report_flow *row)
{
	const struct test *tests = choice->tests.items;
	unsigned met = 0;

	for (size_t i = 0; i < choice->tests.count; i++)
		if (tests[i].expression == met && tests[i].field->holds(&tests[i].value, row))
			met++;
	return met == choice->expressions;
}
