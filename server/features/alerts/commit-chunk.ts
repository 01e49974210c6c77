/** Commits what a rule decided: draws the hold-out, chooses the alerts that are sent, and adds their
 * messages. */
import { isMoment } from "../../../contract/alerts/rules.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { AlertMessageType } from "../../sending/deliveries.ts";
import {
  byImportance,
  endedMessageId,
  firedMessageId,
  gatheredMessageId,
  runMessageId,
} from "./alert-messages.ts";
import { drawAlerts } from "./control-groups/draw.ts";
import type { KnownArms } from "./control-groups/experiments.ts";
import {
  type AlertKey,
  type AlertsOfCap,
  type ClosedAlert,
  type DecisionChunk,
  type DecisionMessage,
  type DrawnAlert,
  type FiredAlert,
  keyOfAlert,
  keyOfOpenAlert,
  type RuleVersion,
  type UnsentAlert,
  type Watermark,
} from "./store/decisions.ts";

type Ledger = Pick<SharedLedger, "ruleDecisions" | "destinations">;

/** The organization's clock. */
export interface ChunkGround {
  readonly nowMs: number;
  /** The start of today in the organization's timezone. */
  readonly todayMs: number;
  /** The next 08:00 in the organization's timezone. */
  readonly nextMorningMs: number;
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
  const named = drawn.filter(({ arm }) => arm !== "control");
  const together = gathersMoments(version) ? { sent: named, total: named.length } : { sent, total };
  const ended = await endsToSend(ledger, version, chunk.closed);
  const messages = await messagesOf(ledger, version, { sent, together, ended }, ground);
  // Without a destination no alert counts as sent, so that a later destination gets no end without its begin.
  const isSent = new Set<UnsentAlert>(messages.length === 0 ? [] : sent);
  const fired = drawn.map((alert) => ({ ...alert, isSent: isSent.has(alert) }));
  const earlier = [...isSent].filter((alert) => !drawn.some((one) => one === alert));
  return ledger.ruleDecisions.commitDecision({ ...chunk, fired, earlier, messages }, ground.nowMs);
}

/** Whether the alerts of a rule are gathered into one message of the morning. */
function gathersMoments({ condition, when }: RuleVersion): boolean {
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

/** Alerts of a message, and how many fired. */
interface AlertGroup {
  readonly sent: readonly UnsentAlert[];
  readonly total: number;
}

const noneSent: AlertGroup = { sent: [], total: 0 };

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
): Promise<AlertGroup> {
  if (of === undefined) return noneSent;
  const earlier = await ruleDecisions.unsent(organization, rule, of);
  const all: readonly UnsentAlert[] = [...earlier, ...drawn.filter(({ arm }) => arm !== "control")];
  if (all.length === 0) return noneSent;
  const room = Math.max(0, cap - (await ruleDecisions.sentOn(organization, rule, of)));
  return { sent: all.toSorted(byImportance).slice(0, room), total: all.length };
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
  /** The alerts of the message to Slack and by e-mail, and how many fired. */
  readonly together: AlertGroup;
  readonly ended: readonly ClosedAlert[];
}

/** The messages to all destinations of a rule. They are rendered when they are due. */
async function messagesOf(
  ledger: Ledger,
  version: RuleVersion,
  { sent, together, ended }: MessageContents,
  { nowMs, nextMorningMs }: ChunkGround,
): Promise<readonly DecisionMessage[]> {
  if (sent.length + together.sent.length + ended.length === 0) return [];
  const { organization, destinations, cap, when } = version;
  const isGathered = gathersMoments(version);
  const runId = isGathered ? gatheredMessageId(version, nextMorningMs) : runMessageId(version, together.sent);
  const known = await ledger.destinations.list(organization);
  const to = known.filter(({ id }) => destinations.includes(id));
  return to.flatMap(({ id: destination, kind }): readonly DecisionMessage[] => {
    const about = (type: AlertMessageType, messageId: string, alerts: readonly AlertKey[]) => {
      const message = { messageId, type };
      return { destination, message, alerts, total: 1, cap, dueAtMs: nowMs, isGathered: false };
    };
    if (kind === "webhook") {
      return [
        ...sent.map((one) => about("alert.fired", firedMessageId(version, one), [keyOfAlert(one)])),
        ...ended.map((one) =>
          about("alert.resolved", endedMessageId(version, one), [{ ...one, eventId: one.eventId ?? "" }]),
        ),
      ];
    }
    if (together.sent.length === 0) return [];
    const run = about("alert.fired", runId, together.sent.map(keyOfAlert));
    const dueAtMs = when === "at once" ? nowMs : nextMorningMs;
    return [{ ...run, total: together.total, dueAtMs, isGathered }];
  });
}
