/** Tools about the organization as a whole. */

import Type from "typebox";
import { assistantLimits } from "../../../../contract/assistants/assistants.ts";
import { glossary } from "../../../../contract/assistants/glossary.ts";
import { callListLimits } from "../../../../contract/call-list.ts";
import { answerWith, columnsOf, factColumns, factsOf } from "../answer.ts";
import { Input, input, tool } from "../tool.ts";
import { modelOf, moneyNote } from "./common.ts";

const [mostEvents, mostTraits] = [30, 20];

export const getWorkspace = tool({
  name: "get_workspace",
  title: "Workspace",
  description:
    "Read first: what the figures mean here. Glossary, churn target, horizon, timezone, currency, key events, events, traits, segments and their ids, data health.",
  input: input({}),
  run: async (asking) => {
    const [organization, settings, events, users, accounts, segments, summary] = await Promise.all([
      asking.ask("GET /api/organization"),
      asking.ask("GET /api/settings"),
      asking.ask("GET /api/events", { query: { limit: mostEvents } }),
      asking.ask("GET /api/traits", { query: { kind: "user", limit: mostTraits } }),
      asking.ask("GET /api/traits", { query: { kind: "account", limit: mostTraits } }),
      asking.ask("GET /api/segment-sizes"),
      Promise.all([modelOf(asking, "user"), modelOf(asking, "account")]),
    ]);
    const { name, timezone, today } = organization;
    const { churnHorizonDays, churnTargets, keyEvents, passiveEvents, weekStart, reportingCurrency } =
      settings.settings;
    const [user, account] = summary;
    const facts = {
      organization: { name, timezone, today },
      settings: { churnHorizonDays, churnTargets, keyEvents, passiveEvents, weekStart, reportingCurrency },
      model: { user, account },
    };
    const traits = (of: string, listed: typeof users) =>
      listed.traits.map(
        ({ trait, users: count, values }) =>
          [
            `${of} ${trait}`,
            `${count} with a value${values.length === 0 ? "" : `: ${values.map(({ value }) => value).join(", ")}`}`,
          ] as const,
      );
    return answerWith(asking, {
      columns: factColumns,
      rows: [
        ...factsOf(facts, ""),
        ...segments.segments.map((one) => [`segment ${one.id}`, JSON.stringify(one)]),
        ...glossary.map(([term, meaning]) => [`term ${term}`, meaning]),
        ...events.events.map(({ event, count, users: doers, lastDay }) => [
          `event ${event}`,
          `${count} times by ${doers} users, last on ${lastDay}`,
        ]),
        ...traits("trait", users),
        ...traits("attribute", accounts),
      ],
      untrusted: factColumns,
      limit: assistantLimits.mostRows,
      page: "overview",
    });
  },
});

export const getWeekSummary = tool({
  name: "get_week_summary",
  title: "Last seven days",
  description: "The last seven whole days in sentences, and whether each change is unusual.",
  input: input({ segment: Input.segment }),
  run: async (asking, { segment }) => {
    const { sentences, fromDay, toDay } = await asking.ask("GET /api/week-summary", { query: { segment } });
    const rows = sentences.map(({ about, tone, text, usual, isUnusual }) => [
      about,
      tone,
      text,
      usual?.low ?? null,
      usual?.high ?? null,
      isUnusual,
    ]);
    return answerWith(asking, {
      columns: ["about", "tone", "sentence", "usualLow", "usualHigh", "isUnusual"],
      rows,
      untrusted: ["sentence"],
      asOf: toDay,
      notes: [`Days from ${fromDay} to ${toDay}.`],
      page: "overview",
    });
  },
});

export const getCallList = tool({
  name: "get_call_list",
  title: "Call list",
  description:
    "Whom to call first, and why, in the order of the pages. Never has controls. non_payers: who pays nothing. Terms: get_workspace.",
  input: input({
    list: Type.Optional(Type.Enum(["call", "non_payers"])),
    segment: Input.segment,
    limit: Input.limit,
  }),
  run: async (asking, { list = "call", segment, limit }) => {
    const query = { list, segment, limit: callListLimits.rows };
    const { rows, currency, day, note } = await asking.ask("GET /api/call-list", { query });
    const free = rows.filter(({ controlUntil }) => controlUntil === null);
    const kind = free[0]?.kind ?? "account";
    return answerWith(asking, {
      ...columnsOf(
        free.map(({ accountId, userId, ...row }) => ({ ...row, id: accountId ?? userId })),
        [
          "kind",
          "id",
          "name",
          "mrr",
          "plan",
          "class",
          "reason",
          "rankValue",
          "expectedLoss",
          "endsOn",
          "renewsOn",
          "owner",
          "lastContactDays",
          "openTask",
        ],
      ),
      untrusted: ["id", "name", "plan", "reason", "owner", "openTask"],
      limit,
      asOf: day,
      ...(await modelOf(asking, kind)),
      notes: [note, moneyNote(currency)],
      page: "overview",
    });
  },
});
