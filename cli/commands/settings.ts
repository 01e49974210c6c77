/** `rekindle settings show | set | history | restore` */

import { Command, InvalidArgumentError, Option } from "commander";
import type { SentChurnTarget } from "../../contract/api/churn-targets.ts";
import type { HealthTrait } from "../../contract/api/health-traits.ts";
import type { RiskBounds } from "../../contract/api/risk-bands.ts";
import { type Settings, type SettingsChange, settingsLimits } from "../../contract/settings.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { Time } from "../../server/process/time.ts";
import { type OfOrganization, withOrganization } from "../installation.ts";
import { wholeNumber } from "../numbers.ts";
import { printable } from "../output.ts";
import { instant, oneLine, printTable } from "../print.ts";
import {
  churnTargetForms,
  churnTargetText,
  healthTraitText,
  readChurnHorizon,
  readChurnTarget,
  readEventWeight,
  readHealthTrait,
  readHealthWeights,
  readRiskBands,
  riskBandsForm,
  riskBandsText,
  weekStarts,
} from "../settings-values.ts";

/** The command for an organization's settings. */
export function settingsCommand(time: Time): Command {
  return new Command("settings")
    .description("Show and change the settings of an organization's scores and weeks")
    .addCommand(show())
    .addCommand(set(time))
    .addCommand(history())
    .addCommand(restore(time));
}

function show(): Command {
  return new Command("show")
    .description("Show the settings by the names of their options")
    .requiredOption("--organization <name>", "the organization")
    .action(({ organization: name }: OfOrganization) =>
      withOrganization(name, async ({ ledger }, { id }) => {
        const { version, settings, changedAtMs, changedBy } = await ledger.settings.get(id);
        printTable(
          ["SETTING", "VALUE"],
          rowsOf(settings).map(([setting, value]) => [setting, oneLine(value)]),
        );
        process.stderr.write(
          changedAtMs === null
            ? "nothing was changed yet\n"
            : `version ${version}, changed ${instant(changedAtMs)} by ${printable(changedBy ?? "")}\n`,
        );
      }),
    );
}

/** Each setting under its option; a row for every event, since there may be hundreds. */
function rowsOf(settings: Settings): (readonly [string, string])[] {
  const pairs = (weights: Readonly<Record<string, number>>) =>
    Object.entries(weights).map(([name, weight]) => `${name}=${weight}`);
  const rows = (option: string, values: readonly string[]) =>
    (values.length === 0 ? ["none"] : values).map((value) => [option, value] as const);
  return [
    ["churn-horizon", String(settings.churnHorizonDays)],
    ["health-weights", pairs(settings.healthWeights).join(",")],
    ...rows("health-trait", settings.healthTraits.map(healthTraitText)),
    ["user-risk-bands", riskBandsText(settings.riskBands.user)],
    ["account-risk-bands", riskBandsText(settings.riskBands.account)],
    ...rows("event-weight", pairs(settings.eventWeights)),
    ...rows("passive-event", settings.passiveEvents),
    ...rows("key-event", settings.keyEvents),
    ["user-churn", churnTargetText(settings.churnTargets.user)],
    ["account-churn", churnTargetText(settings.churnTargets.account)],
    ...rows("ordinary-event", settings.ordinaryEvents),
    ["reporting-currency", settings.reportingCurrency ?? "default"],
    ...rows("currency-rate", pairs(settings.currencyRates)),
    ["week-start", weekStarts.find(({ day }) => day === settings.weekStart)?.name ?? ""],
  ];
}

interface SetOptions extends OfOrganization {
  readonly churnHorizon?: number;
  readonly healthWeights?: Readonly<Record<string, number>>;
  readonly healthTrait?: HealthTrait[];
  readonly userRiskBands?: { readonly bounds: RiskBounds | null };
  readonly accountRiskBands?: { readonly bounds: RiskBounds | null };
  readonly eventWeight?: readonly (readonly [string, number | null])[];
  readonly passiveEvent?: string[];
  readonly keyEvent?: string[];
  readonly userChurn?: SentChurnTarget;
  readonly accountChurn?: SentChurnTarget;
  readonly ordinaryEvent?: string[];
  readonly weekStart?: string;
  readonly reportingCurrency?: string;
  readonly currencyRate?: readonly (readonly [string, number | null])[];
  readonly ifVersion?: number;
  /** False when `--no-…` was given. */
  readonly healthTraits: boolean;
  readonly eventWeights: boolean;
  readonly passiveEvents: boolean;
  readonly keyEvents: boolean;
  readonly ordinaryEvents: boolean;
  readonly currencyRates: boolean;
}

function set(time: Time): Command {
  const command = new Command("set");
  return command
    .description("Change settings; all others stay")
    .requiredOption("--organization <name>", "the organization")
    .option("--churn-horizon <days>", "days of a prediction, and of silence that counts", readChurnHorizon)
    .option("--health-weights <weights>", "percentages: engagement=35,outlook=35,…", readHealthWeights)
    .option(
      "--health-trait <trait=zero..hundred:weight...>",
      "all numeric traits in health: the values that mean 0 and 100, and the percentage, e.g. nps=0..10:20",
      collect(readHealthTrait),
    )
    .addOption(new Option("--no-health-traits", "no trait is a part of health").conflicts("healthTrait"))
    .option("--user-risk-bands <bounds>", `churn risks of the bands: ${riskBandsForm}`, readRiskBands)
    .option("--account-risk-bands <bounds>", "the same of accounts", readRiskBands)
    .option(
      "--event-weight <name=weight...>",
      "an event's weight in engagement; NAME=default for 1",
      collect(readEventWeight),
    )
    .addOption(new Option("--no-event-weights", "every event counts for 1").conflicts("eventWeight"))
    .option(
      "--passive-event <name...>",
      "all events that are done to users, such as a sent mail",
      collect(String),
    )
    .addOption(new Option("--no-passive-events", "no event is passive").conflicts("passiveEvent"))
    .option("--key-event <name...>", "all events that make up adoption", collect(String))
    .addOption(new Option("--no-key-events", "no event is a key event").conflicts("keyEvent"))
    .option("--user-churn <target>", `when a user has churned: ${churnTargetForms}`, readChurnTarget)
    .option("--account-churn <target>", "when an account has churned, in the same forms", readChurnTarget)
    .option(
      "--ordinary-event <name...>",
      "all events that do not mean that a user has left, though their names may",
      collect(String),
    )
    .addOption(new Option("--no-ordinary-events", "none of these").conflicts("ordinaryEvent"))
    .addOption(
      new Option("--week-start <day>", "the first day of a week").choices(weekStarts.map(({ name }) => name)),
    )
    .option("--reporting-currency <code>", "the currency of revenue figures, such as USD, or default")
    .option(
      "--currency-rate <code=rate...>",
      "units of the reporting currency for one unit, e.g. EUR=1.08; CODE=default for none",
      collect(readEventWeight),
    )
    .addOption(new Option("--no-currency-rates", "no currency has a rate").conflicts("currencyRate"))
    .option("--if-version <number>", "refuse unless this is the current version", readVersion)
    .action((options: SetOptions) => {
      const change = changeOf(options);
      if (Object.keys(change).length === 0) {
        command.error("error: nothing to change: rekindle settings set --help lists what can be set");
      }
      return withOrganization(options.organization, async ({ ledger }, { id }) => {
        const { version: before } = await ledger.settings.get(id);
        const { ifVersion } = options;
        const based = { ...change, ...(ifVersion !== undefined && { version: ifVersion }) };
        const { version } = await ledger.settings.change(id, based, commandLine, time.nowMs());
        process.stderr.write(
          version === before ? "the settings are unchanged\n" : `the settings are version ${version} now\n`,
        );
      });
    });
}

function changeOf(options: SetOptions): SettingsChange {
  const { churnHorizon, healthWeights, healthTrait, eventWeight, passiveEvent, keyEvent, ordinaryEvent } =
    options;
  const { userChurn, accountChurn, userRiskBands, accountRiskBands } = options;
  const { reportingCurrency, currencyRate } = options;
  const weekStart = weekStarts.find(({ name }) => name === options.weekStart)?.day;
  return {
    ...(churnHorizon !== undefined && { churnHorizonDays: churnHorizon as Settings["churnHorizonDays"] }),
    ...(healthWeights !== undefined && { healthWeights }),
    ...(!options.healthTraits && { healthTraits: [] }),
    ...(healthTrait !== undefined && { healthTraits: healthTrait }),
    ...((userRiskBands !== undefined || accountRiskBands !== undefined) && {
      riskBands: {
        ...(userRiskBands !== undefined && { user: userRiskBands.bounds }),
        ...(accountRiskBands !== undefined && { account: accountRiskBands.bounds }),
      },
    }),
    ...(!options.eventWeights && { eventWeights: null }),
    ...(eventWeight !== undefined && { eventWeights: Object.fromEntries(eventWeight) }),
    ...(!options.passiveEvents && { passiveEvents: [] }),
    ...(passiveEvent !== undefined && { passiveEvents: passiveEvent }),
    ...(!options.keyEvents && { keyEvents: [] }),
    ...(keyEvent !== undefined && { keyEvents: keyEvent }),
    ...((userChurn !== undefined || accountChurn !== undefined) && {
      churnTargets: {
        ...(userChurn !== undefined && { user: userChurn }),
        ...(accountChurn !== undefined && { account: accountChurn }),
      },
    }),
    ...(!options.ordinaryEvents && { ordinaryEvents: [] }),
    ...(ordinaryEvent !== undefined && { ordinaryEvents: ordinaryEvent }),
    ...(weekStart !== undefined && { weekStart }),
    ...(reportingCurrency !== undefined && {
      reportingCurrency: reportingCurrency === "default" ? null : reportingCurrency.toUpperCase(),
    }),
    ...(!options.currencyRates && { currencyRates: null }),
    ...(currencyRate !== undefined && { currencyRates: Object.fromEntries(currencyRate) }),
  };
}

/** Reads an option that may be given several times, and with several values each time. */
function collect<Value>(read: (text: string) => Value): (text: string, before?: Value[]) => Value[] {
  return (text, before = []) => [...before, read(text)];
}

function history(): Command {
  return new Command("history")
    .description("List changes of settings with their author and time, the newest first")
    .requiredOption("--organization <name>", "the organization")
    .option(
      "--limit <number>",
      "at most this many changes",
      wholeNumber(1, settingsLimits.historyVersions),
      20,
    )
    .action(({ organization: name, limit }: OfOrganization & { limit: number }) =>
      withOrganization(name, async ({ ledger }, { id }) => {
        const records = await ledger.settings.history(id, { limit });
        printTable(
          ["VERSION", "CHANGED", "BY", "WHAT"],
          records.flatMap(({ version, changedAtMs, changedBy, changes }) =>
            changes.map(({ setting, from, to }) => [
              String(version),
              instant(changedAtMs),
              changedBy,
              oneLine(`${setting}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`),
            ]),
          ),
        );
      }),
    );
}

function restore(time: Time): Command {
  const command = new Command("restore");
  return command
    .description("Go back to the settings of an older version: they become a new version")
    .requiredOption("--organization <name>", "the organization")
    .requiredOption(
      "--to <version>",
      "a version that settings history lists; 0 for the defaults",
      readVersion,
    )
    .option("--if-version <number>", "refuse unless this is the current version", readVersion)
    .action(({ organization: name, to, ifVersion }: RestoreOptions) =>
      withOrganization(name, async ({ ledger }, { id }) => {
        const { version: before } = await ledger.settings.get(id);
        const asked = { to, ...(ifVersion !== undefined && { version: ifVersion }) };
        const restored = await ledger.settings.restore(id, asked, commandLine, time.nowMs());
        if (restored === undefined) return command.error(`error: there is no version ${to} of the settings`);
        process.stderr.write(
          restored.version === before
            ? "the settings are unchanged\n"
            : `the settings are version ${restored.version} now, as in version ${to}\n`,
        );
      }),
    );
}

interface RestoreOptions extends OfOrganization {
  readonly to: number;
  readonly ifVersion?: number;
}

function readVersion(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Give a version that settings show printed.");
}
