/** Commits what a rule decided: draws the hold-out, chooses the alerts that are sent, and makes their
 * messages. */
import { isMoment, ruleLimits } from "../../../contract/alerts/rules.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { DestinationWithCounts } from "../../ledger/ports/actions/destinations.ts";
import type { KnownArms } from "../../ledger/ports/actions/hold-outs.ts";
import type { RuleEntity } from "../../ledger/ports/actions/rule-entities.ts";
import {
  type AlertsOfCap,
  type ClosedAlert,
  type DecisionChunk,
  type DecisionMessage,
  type DrawnAlert,
  type FiredAlert,
  type GatheredAlerts,
  keyOfOpenAlert,
  type RuleToDecide,
  type RuleVersion,
  type UnsentAlert,
  type Watermark,
} from "../../ledger/ports/actions/rules.ts";
import {
  type AlertGroup,
  alertMessage,
  entitiesIn,
  gatheredMessageId,
  type MessageGround,
  runMessage,
} from "./alert-messages.ts";
import { drawAlerts } from "./arm.ts";
import type { EntityWorth } from "./rules/worth.ts";

type Ledger = Pick<SharedLedger, "ruleDecisions" | "destinations">;

/** The organization's clock, and what is read for its messages. */
export interface ChunkGround {
  /** The address of the service for people: PUBLIC_URL. */
  readonly address: string;
  readonly nowMs: number;
  /** The start of today in the organization's timezone. */
  readonly todayMs: number;
  /** The next 08:00 in the organization's timezone. */
  readonly nextMorningMs: number;
  /** Which of the users and accounts are excluded now. */
  readonly excludedAmong: (entities: readonly RuleEntity[]) => Promise<readonly RuleEntity[]>;
  /** What users and accounts are worth, by key. */
  readonly worthOf: (entities: readonly RuleEntity[]) => Promise<ReadonlyMap<string, EntityWorth>>;
}

/**
 * Commits a chunk. The last chunk of a run adds the messages of all its alerts, because only then the most
 * important alerts are known: a message for each alert to webhooks, and one message for all to Slack and by
 * e-mail. Moments that fire until the next morning are gathered into one message. Webhooks get the ends of
 * alerts at once.
 * @returns the watermark afterwards
 * @throws Refusal when the rule was decided or changed meanwhile
 */
export async function commitChunk(
  ledger: Ledger,
  version: RuleVersion,
  chunk: DecisionChunk,
  ground: ChunkGround,
): Promise<Watermark> {
  const { organization, holdOutShare } = version;
  const isDrawn = holdOutShare > 0 && chunk.fired.length > 0;
  const { secret, experiment } = isDrawn
    ? await ledger.ruleDecisions.holdOut(organization, version.rule, chunk.horizonDays, ground.nowMs)
    : { secret: "", experiment: version.experiment };
  const known = await knownArms(ledger, { ...version, experiment }, chunk.fired);
  const drawn = drawAlerts({ ...version, experiment }, chunk, secret, known);
  const isRunOver = chunk.next.part === null;
  const { sent, total } = isRunOver
    ? await sentOf(ledger, version, capOf(version, chunk, ground), drawn)
    : noneSent;
  const dueAtMs = version.when === "at once" ? ground.nowMs : ground.nextMorningMs;
  const without = chunk.closed.filter(({ why }) => why === "excluded").map(({ entity }) => entity);
  const together = isGathered(version)
    ? await gathered(ledger, version, drawn, without, ground)
    : { sent, total };
  const ended = await endsToSend(ledger, version, chunk.closed);
  const messages = await messagesOf(ledger, version, { sent, together, ended, dueAtMs }, ground);
  // Without a destination no alert counts as sent, so that a later destination gets no end without its begin.
  const isSent = new Set<UnsentAlert>(messages.length === 0 ? [] : sent);
  const fired = drawn.map((alert) => ({ ...alert, isSent: isSent.has(alert) }));
  const earlier = [...isSent].filter((alert) => !drawn.some((one) => one === alert));
  return ledger.ruleDecisions.commitDecision({ ...chunk, fired, earlier, messages }, ground.nowMs);
}

/**
 * Replaces the waiting message that gathers the moments of a rule by a message without these entities. Alerts
 * that the cap left out take their place. Nothing is committed without a waiting message, without other
 * alerts, and for a rule that takes its state over, because a commit ends the takeover.
 * @throws Refusal when the rule was decided or changed meanwhile
 */
export async function gatherWithout(
  ledger: Ledger,
  { version, watermark }: RuleToDecide,
  without: readonly RuleEntity[],
  ground: ChunkGround,
): Promise<void> {
  if (!isGathered(version) || watermark.takesOver) return;
  const { organization, rule, version: number } = version;
  const together = await gathered(ledger, version, [], without, ground);
  if (together.sent.length === 0) return;
  const contents = { sent: [], together, ended: [], dueAtMs: ground.nextMorningMs };
  const messages = await messagesOf(ledger, version, contents, ground);
  const { sequence: after, decidedThrough, part, cursor } = watermark;
  const chunk = {
    organization,
    rule,
    version: number,
    after,
    next: { decidedThrough, part, cursor },
    horizonDays: 0,
    states: [],
    fired: [],
    closed: [],
    insideBySettings: 0,
    earlier: [],
    messages,
  };
  await ledger.ruleDecisions.commitDecision(chunk, ground.nowMs);
}

/** Whether the alerts of a rule are gathered into one message of the morning. */
function isGathered({ condition, when }: RuleVersion): boolean {
  return isMoment(condition) && when === "08:00";
}

/** The arms that units of alerts have already. They are read without a hold-out too: a control stays a
 * control when the hold-out ends. */
async function knownArms(
  { ruleDecisions }: Ledger,
  { organization, rule, experiment }: RuleVersion,
  fired: readonly FiredAlert[],
): Promise<KnownArms> {
  const numbers = (wanted: "user" | "account") =>
    fired.flatMap(({ entity }) => (entity.kind === wanted ? entity.number : []));
  const [users, own] = [numbers("user"), numbers("account")];
  if (users.length + own.length === 0) return { controls: [], entries: [] };
  const accounts = new Set([...own, ...fired.flatMap(({ account }) => account ?? [])]);
  const day = Math.min(...fired.map((alert) => alert.day));
  return ruleDecisions.knownArms(organization, { rule, experiment, day }, { users, accounts: [...accounts] });
}

const noneSent = { sent: [], total: 0 } as const;

/** Which alerts the cap counts together with the alerts of a chunk. Moments count on the day on which they
 * fire, although their events may be of earlier days. */
function capOf(
  { condition }: RuleVersion,
  { fired, next }: DecisionChunk,
  { todayMs: sinceMs }: ChunkGround,
): AlertsOfCap | undefined {
  if (isMoment(condition)) return { sinceMs };
  const day = fired[0]?.day ?? next.decidedThrough;
  return day === null ? undefined : { day };
}

/** The alerts of a run that are sent, by expected loss, then by risk, the highest first. */
async function sentOf(
  { ruleDecisions }: Ledger,
  { organization, rule, cap }: RuleVersion,
  of: AlertsOfCap | undefined,
  drawn: readonly DrawnAlert[],
): Promise<{ readonly sent: readonly UnsentAlert[]; readonly total: number }> {
  if (of === undefined) return noneSent;
  const earlier = await ruleDecisions.unsent(organization, rule, of);
  const all: readonly UnsentAlert[] = [...earlier, ...drawn.filter(({ arm }) => arm !== "control")];
  if (all.length === 0) return noneSent;
  const room = Math.max(0, cap - (await ruleDecisions.sentOn(organization, rule, of)));
  return { sent: all.toSorted(byImportance).slice(0, room), total: all.length };
}

/** The moments of the message that waits for the morning and the moments that fire now, without excluded
 * entities and up to the cap. None when the message does not change. */
async function gathered(
  ledger: Ledger,
  version: RuleVersion,
  drawn: readonly DrawnAlert[],
  without: readonly RuleEntity[],
  ground: ChunkGround,
): Promise<AlertGroup> {
  const fired = drawn.filter(({ arm }) => arm !== "control");
  if (fired.length === 0 && without.length === 0) return noneSent;
  const dueAtMs = ground.nextMorningMs;
  const waiting = await waitingMoments(ledger, version, without, ground);
  // An account that loses its last owner twice on a day has one alert.
  const known = new Set(waiting.alerts.map(({ eventId }) => eventId));
  const added = fired.filter(({ eventId }) => !known.has(eventId));
  const all: readonly UnsentAlert[] = [...waiting.alerts, ...added];
  return {
    sent: all.toSorted(byImportance).slice(0, Math.min(version.cap, ruleLimits.messageRows)),
    total: waiting.total + added.length,
    gatheredUntilMs: dueAtMs,
  };
}

/** The moments of the message that waits, without excluded entities: an alert stays open until the next
 * scored day when its entity is excluded.
 * @param without more entities that are left out */
async function waitingMoments(
  { ruleDecisions }: Ledger,
  version: RuleVersion,
  without: readonly RuleEntity[],
  { nextMorningMs: dueAtMs, excludedAmong }: ChunkGround,
): Promise<GatheredAlerts> {
  const { organization, rule } = version;
  const message = { messageId: gatheredMessageId(version, dueAtMs), dueAtMs };
  for (let leftOut = without; ; ) {
    const found = await ruleDecisions.gathered(organization, rule, message, leftOut, ruleLimits.messageRows);
    const excluded = await excludedAmong(found.alerts.map(({ entity }) => entity));
    if (excluded.length === 0) return found;
    leftOut = [...leftOut, ...excluded];
  }
}

/** Sorts by expected loss, then by risk, the highest first. Null comes last, because no value is negative. */
function byImportance(a: UnsentAlert, b: UnsentAlert): number {
  return (b.expectedLoss ?? -1) - (a.expectedLoss ?? -1) || (b.risk ?? -1) - (a.risk ?? -1);
}

/** The ends that need a message: of alerts that had a message. An alert about an excluded entity closes
 * without a message. */
async function endsToSend(
  { ruleDecisions }: Ledger,
  { organization, rule }: RuleVersion,
  closed: readonly ClosedAlert[],
): Promise<readonly ClosedAlert[]> {
  const ends = closed.filter(({ why }) => why !== "excluded");
  if (ends.length === 0) return [];
  const entities = ends.map(({ entity }) => entity);
  const wasSent = new Set(await ruleDecisions.toldOpen(organization, rule, entities));
  return ends.filter((end) => wasSent.has(keyOfOpenAlert(end)));
}

interface MessageContents {
  readonly sent: readonly UnsentAlert[];
  readonly together: AlertGroup;
  readonly ended: readonly ClosedAlert[];
  /** When the message to Slack and by e-mail is due. */
  readonly dueAtMs: number;
}

/** The messages to all destinations of a rule. */
async function messagesOf(
  ledger: Ledger,
  version: RuleVersion,
  { sent, together, ended, dueAtMs }: MessageContents,
  { address, nowMs, worthOf }: ChunkGround,
): Promise<readonly DecisionMessage[]> {
  const { organization, destinations } = version;
  const entities = [...sent, ...together.sent, ...ended].map(({ entity }) => entity);
  if (entities.length === 0) return [];
  const names = await ledger.ruleDecisions.named(organization, entities);
  const known = await ledger.destinations.list(organization);
  const to = known.filter(({ id }) => destinations.includes(id));
  const hasRows = to.some(({ kind }) => kind !== "webhook");
  const worth = hasRows ? await worthOf(entitiesIn(together.sent)) : new Map();
  const about = { version, names, worth, pages: `${address}/o/${organization}`, nowMs };
  return [...webhookMessages(about, to, sent, ended), ...runMessages(about, to, together, dueAtMs)];
}

/** The parts that the messages to all destinations share. */
type AllGround = Omit<MessageGround, "hasEmails">;

function webhookMessages(
  about: AllGround,
  to: readonly DestinationWithCounts[],
  sent: readonly UnsentAlert[],
  ended: readonly ClosedAlert[],
): DecisionMessage[] {
  const events = [
    ...sent.map((alert) => ({ type: "alert.fired", alert }) as const),
    ...ended.map((alert) => ({ type: "alert.resolved", alert }) as const),
  ];
  const webhooks = to.filter(({ kind }) => kind === "webhook");
  return webhooks.flatMap(({ id: destination, sendsEmails: hasEmails }) =>
    events.map((one) => ({
      destination,
      message: alertMessage({ ...about, hasEmails }, one),
      dueAtMs: about.nowMs,
      entities: [one.alert.entity],
    })),
  );
}

function runMessages(
  about: AllGround,
  to: readonly DestinationWithCounts[],
  group: AlertGroup,
  dueAtMs: number,
): DecisionMessage[] {
  const entities = entitiesIn(group.sent);
  const replacesWaiting = group.gatheredUntilMs !== undefined;
  return to.flatMap(({ id: destination, kind, sendsEmails: hasEmails }) => {
    const message = kind === "webhook" ? undefined : runMessage({ ...about, hasEmails }, group);
    return message === undefined ? [] : [{ destination, message, dueAtMs, entities, replacesWaiting }];
  });
}
