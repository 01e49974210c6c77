/** Loads the simulated customers into an organization, as their application would have sent them. */

import { contactEvent } from "../contract/api/contacts.ts";
import { limits } from "../contract/limits.ts";
import { Refusal } from "../contract/refusal.ts";
import { Zone } from "../server/calendar/zone.ts";
import { settingUp } from "../server/ledger/audit.ts";
import type { SharedLedger } from "../server/ledger/ledger.ts";
import { createProjectToken } from "../server/ledger/stores/credentials.ts";
import { itemsPerSecond, type Organization } from "../server/ledger/stores/organization-rows.ts";
import { remote } from "../server/process/call.ts";
import { socketPeer } from "../server/process/control.ts";
import { socketPath } from "../server/process/sockets.ts";
import type { PublicPort } from "../server/start/start-intake.ts";
import { type EventRole, eventKinds } from "../simulation/catalogue.ts";
import { type Item, wireItem } from "../simulation/items.ts";
import { vendorDomain } from "../simulation/population.ts";
import { dollarsPerEuro } from "../simulation/prices.ts";
import { Simulation } from "../simulation/simulation.ts";
import { apiOf } from "./api/ask.ts";
import { Sender } from "./demo-sender.ts";
import { summary } from "./demo-summary.ts";
import { addRules, addWork, untilDecided } from "./demo-team.ts";
import type { Installation } from "./installation.ts";
import { addOwner } from "./people.ts";
import { Progress } from "./progress.ts";
import { scoreLoaded } from "./score-loaded.ts";

export interface DemoOptions {
  readonly organization: string;
  readonly users: number;
  readonly weeks: number;
  readonly seed: number;
  readonly url?: string;
  readonly force?: boolean;
  /** Whether it gets what a team sets up and does. */
  readonly team: boolean;
  /** The e-mail of its owner. */
  readonly owner?: string;
}

const tokenName = "demo";
/** Higher than one sender can reach, so that the limit does not slow it down. */
const itemsPerSecondWhileLoading = 1_000_000;
/** How long the loader may make no progress before the command stops waiting. */
const loaderPatienceMs = 30_000;

/** Creates the organization if needed, sends everything, waits until it is visible, and prints a summary.
 * @throws Refusal when no server runs, or when the organization has users and `force` is not set */
export async function loadDemo(
  installation: Installation,
  options: DemoOptions,
  nowMs: () => number,
): Promise<void> {
  const url = await serverAddress(installation, options.url);
  const { ledger } = installation;
  const organization = await organizationFor(installation, options, nowMs());
  await addOwner(installation, organization, options.owner, nowMs());
  const startedMs = performance.now();
  const interruption = new AbortController();
  const interrupt = () => interruption.abort(new Refusal(`stopped; ${resumeHint(options)}`));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, interrupt);
  const wanted = { organization: organization.id, name: tokenName, nowMs: nowMs() };
  const { secret } = await createProjectToken(ledger.tokens, wanted, settingUp);
  try {
    const whileLoading = {
      requestsPerSecond: Math.max(organization.requestsPerSecond, 1_000),
      itemsPerSecondSet: itemsPerSecondWhileLoading,
    };
    await ledger.organizations.set(organization.id, whileLoading, settingUp, nowMs());
    const sender = new Sender({ url, token: secret, signal: interruption.signal });
    const loaded = await sendAll(organization, { ...options, endMs: nowMs() }, sender);
    const isVisible = await untilVisible(installation, interruption.signal);
    const { scored, hasTeam } = isVisible
      ? await scoreWithTeam(installation, organization, options, nowMs())
      : { scored: undefined, hasTeam: false };
    const seconds = (performance.now() - startedMs) / 1_000;
    process.stdout.write(summary({ ...loaded, ...options, url, isVisible, scored, hasTeam, seconds }));
  } finally {
    await resetLimits(ledger, organization, secret, nowMs());
  }
}

/** Scores the organization, with what a team has set up before that and does after it. @returns a sentence
 * about the scores, and whether the team has got alerts and work, or what was missing of them */
async function scoreWithTeam(
  installation: Installation,
  organization: Organization,
  { owner, team }: DemoOptions,
  nowMs: number,
): Promise<{ readonly scored: string | undefined; readonly hasTeam: boolean }> {
  const api = apiOf(installation, organization);
  const hasNewRules = team && (await addRules(api));
  const scored = await scoreLoaded(installation, organization);
  if (!team || scored === undefined) return { scored, hasTeam: false };
  const hasNewWork = await addWork(api, owner, nowMs);
  // Also after a load that was killed when it had its rules.
  const isDecided = await untilDecided(api);
  return { scored, hasTeam: (hasNewRules || hasNewWork) && isDecided };
}

/** Resets the limits and revokes the token. If the server has gone, it prints the commands for that. */
async function resetLimits(
  { organizations, tokens }: SharedLedger,
  before: Organization,
  secret: string,
  nowMs: number,
): Promise<void> {
  const { id, name, requestsPerSecond, itemsPerSecondSet } = before;
  const lastFour = secret.slice(-4);
  try {
    await organizations.set(id, { requestsPerSecond, itemsPerSecondSet }, settingUp, nowMs);
    const made = (await tokens.list(id)).findLast((token) => token.lastFour === lastFour);
    if (made !== undefined) await tokens.revoke(made.id, settingUp, nowMs);
  } catch {
    process.stderr.write(
      `rekindle: the server has gone, so the limits of ${JSON.stringify(name)} are still raised: set --rate-limit ${requestsPerSecond} and --item-rate-limit ${itemsPerSecond(before)} with rekindle organization set, and revoke the token rk-…${lastFour} with rekindle token revoke.\n`,
    );
  }
}

/** The address of the running server, which answers there. @throws Refusal */
async function serverAddress({ config, served }: Installation, given: string | undefined): Promise<string> {
  // A cluster's servers may run on other machines.
  if (!served && (config.cluster === null || given === undefined)) {
    const or = config.cluster === null ? "" : " Or give the address of a node with --url.";
    throw new Refusal(
      `no server runs on ${config.dataDir}: start one (npm start, or rekindle serve) and run rekindle demo while it runs.${or}`,
    );
  }
  const control = socketPath(config.dataDir, "control");
  const url = given ?? (await remote<{ http: PublicPort }>(socketPeer(control)).http.address());
  const isThere = await fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );
  if (isThere) return url;
  throw new Refusal(`no rekindle answers at ${url}: give the server's address with --url.`);
}

/** Creates an organization with settings for the demonstration: opened mails and canceled subscriptions are
 * passive, revenue is in dollars, and the vendor's own staff, test users and monitor are excluded from
 * figures. Users churn by silence, and accounts when their subscription ends, so that MRR at risk is a
 * sum. */
async function newOrganization(ledger: SharedLedger, name: string, nowMs: number): Promise<Organization> {
  const created = await ledger.organizations.create({ name, timezone: "UTC", nowMs }, settingUp);
  const named = (role: EventRole) => eventKinds.filter((kind) => kind.role === role).map((kind) => kind.name);
  const settings = {
    passiveEvents: [...named("passive"), "subscription_canceled", contactEvent],
    keyEvents: named("key"),
    churnTargets: { account: { by: "subscription" as const } },
    reportingCurrency: "USD",
    currencyRates: { EUR: dollarsPerEuro },
  };
  await ledger.settings.change(created.id, settings, settingUp, nowMs);
  const vendor = { kind: "email_domain", key: "", value: vendorDomain } as const;
  await ledger.exclusions.add(created.id, vendor, settingUp, nowMs);
  return created;
}

async function organizationFor(
  { ledger }: Installation,
  options: DemoOptions,
  nowMs: number,
): Promise<Organization> {
  const name = options.organization;
  const found = (await ledger.organizations.list()).find((organization) => organization.name === name);
  if (found === undefined) return newOrganization(ledger, name, nowMs);
  const { users } = await ledger.populations(found.id);
  if (users === 0 || options.force) return withoutRemains(ledger, found, nowMs);
  throw new Refusal(
    `the organization ${JSON.stringify(name)} has ${users} users already: give another name with --organization, or --force.`,
  );
}

/** Resets what a load that was killed left: raised limits, and an open token. */
async function withoutRemains(
  { organizations, tokens }: SharedLedger,
  found: Organization,
  nowMs: number,
): Promise<Organization> {
  if (found.itemsPerSecondSet !== itemsPerSecondWhileLoading) return found;
  const usual = { requestsPerSecond: limits.defaultRequestsPerSecond, itemsPerSecondSet: null };
  await organizations.set(found.id, usual, settingUp, nowMs);
  const left = (await tokens.list(found.id)).filter(
    ({ name, revokedAtMs }) => name === tokenName && revokedAtMs === null,
  );
  for (const { id } of left) await tokens.revoke(id, settingUp, nowMs);
  return { ...found, ...usual };
}

async function sendAll(
  organization: Organization,
  options: DemoOptions & { readonly endMs: number },
  sender: Sender,
) {
  const { seed, users, weeks, endMs } = options;
  const zone = new Zone(organization.timezone);
  const simulation = new Simulation({ seed, users, weeks, zone, endMs });
  const { firstDay, lastDay } = simulation;
  const progress = new Progress("items");
  let items = 0;
  let events = 0;
  // Only a promise is awaited: to wait for every item would take as long as to make it.
  const add = (item: Item, messageId: string): Promise<void> | undefined => {
    items += 1;
    if (item.type === "track") events += 1;
    const text = JSON.stringify(wireItem(item, messageId));
    return sender.add(item.person.account.facts.number, text);
  };
  // Of a later day the simulation is another: its people did the same things a day later.
  const prefix = `demo-${seed}-${users}-${weeks}-${lastDay}`;
  try {
    for (const { day, items: ofDay } of simulation.days()) {
      for (const item of ofDay) {
        const full = add(item, `${prefix}-${items}`);
        if (full !== undefined) await full;
      }
      progress.show({
        done: items,
        fraction: (day - firstDay + 1) / (lastDay - firstDay + 1),
        waiting: sender.waiting,
      });
    }
    const owners = options.owner === undefined ? [] : [options.owner];
    for (const [index, item] of simulation.billing(owners).entries()) {
      const full = add(item, `${prefix}-billing-${index}`);
      if (full !== undefined) await full;
    }
    await sender.finish();
  } catch (error) {
    if (error instanceof Refusal && sender.totals.accepted > 0 && !error.message.startsWith("stopped")) {
      throw new Refusal(`${error.message} After fixing that, ${resumeHint(options)}`);
    }
    throw error;
  } finally {
    progress.end();
  }
  return { events, firstDay, lastDay, truth: simulation.truth, duplicates: sender.totals.duplicates };
}

function resumeHint({ organization }: DemoOptions): string {
  return `run it again with --force to complete ${JSON.stringify(organization)}: on the same day nothing is doubled.`;
}

/** Waits until everything that was acknowledged is in the warehouse; false when the loader makes no
 * progress. */
async function untilVisible({ ledger }: Installation, signal: AbortSignal): Promise<boolean> {
  const { newestInboxId } = await ledger.inbox.backlog();
  let loaded = -1;
  let movedMs = performance.now();
  while (true) {
    const { loadedUptoInboxId } = await ledger.inbox.backlog();
    if (loadedUptoInboxId >= newestInboxId) return true;
    if (loadedUptoInboxId !== loaded) movedMs = performance.now();
    else if (performance.now() - movedMs > loaderPatienceMs) return false;
    loaded = loadedUptoInboxId;
    signal.throwIfAborted();
    await Bun.sleep(100);
  }
}
