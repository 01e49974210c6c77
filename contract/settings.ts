/**
 * An organization's settings, on which its scores and figures depend: what they are before anything is set,
 * what can be changed, and how changes are listed. A change is a JSON merge patch (RFC 7396): what is not
 * sent stays, lists are replaced whole, and null puts back what an organization starts with.
 */
import Type, { type Static } from "typebox";
import { ChurnTarget, SentChurnTarget, silence } from "./api/churn-targets.ts";
import { HealthTraits } from "./api/health-traits.ts";
import { riskBandsOfKinds, riskBandsOptions } from "./api/risk-bands.ts";
import { closedObject, Field, listOf, nullable, Parameter } from "./api/schema.ts";
import { CurrencyRate, currencyRatesOptions, ReportingCurrency } from "./billing/currency-rates.ts";
import { EventName } from "./write-api.ts";

export const settingsLimits = {
  eventWeights: 500,
  passiveEvents: 500,
  keyEvents: 100,
  ordinaryEvents: 100,
  largestEventWeight: 1_000,
  /** Of all settings together, as JSON: every version is kept whole. */
  storedBytes: 256 * 1024,
  /** Within 24 hours: after each change all users are scored again. */
  changesPerDay: 100,
  historyVersions: 100,
} as const;

const churnHorizonDays = Type.Enum([7, 14, 28, 56, 84], {
  description:
    "The churn horizon in days. Churn risk is the probability of churn within the horizon. Users or accounts that are idle for the horizon are inactive, or churned with the churn target `silence`.",
  "x-send": "7, 14, 28, 56 or 84",
});

const part = (description: string) =>
  Type.Number({ minimum: 0, maximum: 100, description, "x-send": "a percentage from 0 to 100" });

const healthParts = {
  engagement: part("Weight of the engagement score."),
  outlook: part("Weight of 100 / (1 + odds of the churn risk / (2 × odds of the base rate))."),
  momentum: part("Weight of momentum."),
  adoption: part("Weight of the share of key events used in 90 days."),
};

const healthWeightsOptions = {
  additionalProperties: false,
  description:
    "Weights of the parts of health, in per cent. Together with the weights of `healthTraits` they add up to 100. If a user or an account lacks a part, the other parts share its weight.",
  "x-send": "an object with engagement, outlook, momentum and adoption, each from 0 to 100",
} as const;

const eventWeight = Type.Number({
  minimum: 0,
  maximum: settingsLimits.largestEventWeight,
  description: "Weight of one event in the volume.",
  "x-send": `a number from 0 to ${settingsLimits.largestEventWeight}`,
});

const eventWeightsOptions = {
  maxProperties: settingsLimits.eventWeights,
  propertyNames: EventName,
  description:
    "The weight of events in the volume of engagement, by event name. Events that are not listed have the weight 1.",
  "x-send": `an object of at most ${settingsLimits.eventWeights} event names and their weights`,
} as const;

const eventNames = (maxItems: number, description: string) =>
  Type.Array(EventName, {
    maxItems,
    uniqueItems: true,
    description,
    "x-send": `an array of at most ${maxItems} event names, each once`,
  });

const passiveEvents = eventNames(
  settingsLimits.passiveEvents,
  "Passive events: they are done to a user (e.g. an e-mail was sent), so they are no engagement and count in no figure about users. They stay in event counts, timelines and exports.",
);

const keyEvents = eventNames(
  settingsLimits.keyEvents,
  "Key events, which make up adoption. If empty, adoption is no part of health.",
);

const churnTargetsOptions = {
  additionalProperties: false,
  description:
    "When a user and when an account has churned. A churn target that is sent replaces the previous churn target.",
  "x-send": "an object with user, account or both, each a churn target",
} as const;

const ordinaryEvents = eventNames(
  settingsLimits.ordinaryEvents,
  "Events that do not mean that a user has left, although their names suggest so. They count as activity.",
);

const weekStart = Type.Enum([1, 7], {
  description: "The first day of a week: 1 for Monday, 7 for Sunday.",
  "x-send": "1 for Monday or 7 for Sunday",
});

const SettingsValues = Type.Object({
  churnHorizonDays,
  healthWeights: Type.Object(healthParts, healthWeightsOptions),
  healthTraits: HealthTraits,
  riskBands: Type.Object(riskBandsOfKinds, riskBandsOptions),
  eventWeights: Type.Record(Type.String(), eventWeight, eventWeightsOptions),
  passiveEvents,
  keyEvents,
  churnTargets: Type.Object({ user: ChurnTarget, account: ChurnTarget }, churnTargetsOptions),
  ordinaryEvents,
  weekStart,
  reportingCurrency: nullable(ReportingCurrency),
  currencyRates: Type.Record(Type.String(), CurrencyRate, currencyRatesOptions),
});

export type Settings = Static<typeof SettingsValues>;

/** Settings of a new organization. */
export const defaultSettings: Settings = {
  churnHorizonDays: 28,
  healthWeights: { engagement: 35, outlook: 35, momentum: 20, adoption: 10 },
  healthTraits: [],
  riskBands: { user: null, account: null },
  eventWeights: {},
  passiveEvents: [],
  keyEvents: [],
  churnTargets: { user: silence, account: silence },
  ordinaryEvents: [],
  weekStart: 1,
  reportingCurrency: null,
  currencyRates: {},
};

/** A setting in a change: it may be left out, and null puts back what an organization starts with. */
const changed = <T extends Type.TSchema>(schema: T) => Type.Optional(nullable(schema));

export const SettingsChangeBody = Type.Object(
  {
    version: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description:
          "The version that the change is based on. If it is not the current version, the answer is 409 `conflict` with the current version.",
        "x-send": "the version that GET /api/settings answered",
      }),
    ),
    churnHorizonDays: changed(churnHorizonDays),
    healthWeights: changed(Type.Partial(Type.Object(healthParts), healthWeightsOptions)),
    healthTraits: changed(HealthTraits),
    riskBands: changed(Type.Partial(Type.Object(riskBandsOfKinds), riskBandsOptions)),
    eventWeights: changed(
      Type.Record(Type.String(), nullable(eventWeight), {
        ...eventWeightsOptions,
        description: `${eventWeightsOptions.description} Events that are not sent keep their weight; null sets a weight back to 1.`,
      }),
    ),
    passiveEvents: changed(passiveEvents),
    keyEvents: changed(keyEvents),
    churnTargets: changed(
      Type.Object({ user: changed(SentChurnTarget), account: changed(SentChurnTarget) }, churnTargetsOptions),
    ),
    ordinaryEvents: changed(ordinaryEvents),
    weekStart: changed(weekStart),
    reportingCurrency: changed(ReportingCurrency),
    currencyRates: changed(
      Type.Record(Type.String(), nullable(CurrencyRate), {
        ...currencyRatesOptions,
        description: `${currencyRatesOptions.description} Currencies that are not sent keep their rate; null removes a rate.`,
      }),
    ),
  },
  {
    additionalProperties: false,
    minProperties: 1,
    description: "A setting that is not sent stays as it is; null sets it back to its default (RFC 7396).",
    "x-send": `a JSON object with at least one of ${Object.keys(defaultSettings).join(", ")}`,
  },
);

export type SettingsChange = Static<typeof SettingsChangeBody>;

const version = Type.Integer({
  minimum: 0,
  description: "The version of the settings: 0 before the first change, plus 1 with each change.",
});

export const SettingsAnswer = Type.Object({
  version,
  changedAt: nullable(Field.instant("When the last change was made. Null before the first change.")),
  changedBy: nullable(Field.text("Author of the last change. Null before the first change.")),
  settings: SettingsValues,
});

export const SettingsHistoryParameters = closedObject({
  limit: Parameter.positive(settingsLimits.historyVersions, 20, "At most this many versions."),
  before: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: "Only versions older than this version.",
    }),
  ),
});

/** One setting that a change moved. */
export const SettingChange = Type.Object({
  setting: Field.text("The name of the setting, e.g. `churnHorizonDays` or `eventWeights.report_created`."),
  from: Type.Unknown({ description: "The value before. Null for an event that had no weight set." }),
  to: Type.Unknown(),
});

const restoring = (whose: string) =>
  Type.Array(SettingChange, { description: `The differences that restoring ${whose} would make now.` });

export const SettingsHistoryAnswer = Type.Object({
  versions: listOf("The newest first.", {
    version,
    changedAt: Field.instant("When the change was made."),
    changedBy: Field.text(
      "The author: `command line`, `read key` with the key's id, or the team member's name with the id as `(person 3)`.",
    ),
    changes: Type.Array(SettingChange),
    restoring: restoring("this version"),
  }),
  restoringDefaults: restoring("version 0, the defaults,"),
});

const versionNumber = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;

export const SettingsRestoreBody = closedObject(
  {
    to: Type.Integer({
      ...versionNumber,
      description: "The version whose settings become the current settings. 0: the defaults.",
      "x-send": "a version that GET /api/settings/history answered, or 0",
    }),
    version: Type.Optional(
      Type.Integer({
        ...versionNumber,
        description:
          "The version that the restore is based on. If it is not the current version, the answer is 409 `conflict` with the current version.",
        "x-send": "the version that GET /api/settings answered",
      }),
    ),
  },
  { "x-send": "a JSON object with to" },
);
