#pragma once

#include <engine/engine.h>
#include <engine/flow_choice.h>
#include <report/flows.h>

/*
 * The flow table's document: half-connections numbered in order of their first frames, connections in
 * order of their first half, so that it does not matter how many workers there were. Keeps 32
 * bytes a record, and up to 6 for connections; rows are made when they are asked for.
 */
struct ft_flow_report;

/*
 * What an engine with config.details saw so far, as much of it as is chosen. With FT_ENGINE_NCCL_ALL rows say what NCCL's
 * framing does, and halves that a set-up over TCP named are joined, unless more than their source ports join them with
 * others: that shows in later reports of the engine too. It and the map must outlive the report, and the engine may not go
 * on before. 0 or -ENOMEM.
 */
int ft_engine_flows(struct ft_engine *engine, const struct ft_flow_choice *choice,
		    struct ft_flow_report **report);

/* Frees all of it, its model too. NULL is fine. */
void ft_flow_report_destroy(struct ft_flow_report *report);

/* The model, for a renderer; as long as the report. `about`: tool, capture and coverage. */
struct ft_report_flows ft_flow_report_model(const struct ft_flow_report *report,
					    const struct ft_report *about);
