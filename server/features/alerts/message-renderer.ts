/** Renders messages about alerts when they are due. Whoever is excluded or a control at that moment is left
 * out, and an erased user or account has no alert any more. Analysis renders, because the warehouse knows who
 * is excluded. */
import { ruleLimits } from "../../../contract/alerts/rules.ts";
import { zoneOf } from "../../calendar/zone.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import { keyOfEntity, type RuleEntity } from "../../ledger/stores/entity-rows.ts";
import type { Logger } from "../../process/log.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import type { RenderedDelivery, UnrenderedDelivery } from "../../sending/deliveries.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { alertBody, byImportance, type MessageGround, runBody } from "./alert-messages.ts";
import { excludedAmong } from "./rules/standing.ts";
import { worthReader } from "./rules/worth.ts";
import type { MessageAlert } from "./store/decisions.ts";
import { worthByKey } from "./worth-by-key.ts";

interface Parts {
  readonly ledger: Pick<
    SharedLedger,
    "ruleDecisions" | "deliveries" | "organizations" | "settings" | "members"
  >;
  readonly warehouse: Warehouse;
  /** The address of the service for people: PUBLIC_URL. */
  readonly address: string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Renders what is due. A rule that fails does not stop the messages of the others. */
export async function renderMessages(parts: Parts): Promise<void> {
  const { ledger, nowMs, log } = parts;
  for (let after = 0; ; ) {
    const due = await ledger.deliveries.toRender(after, nowMs());
    for (const own of Map.groupBy(due, ({ about }) => about.rule).values()) {
      await renderRule(parts, own).catch((error: unknown) =>
        log.warn({ err: error, rule: own[0]?.about.rule }, "messages are rendered at the next look"),
      );
    }
    const last = due.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

async function renderRule(
  { ledger, warehouse, address, nowMs }: Parts,
  due: readonly UnrenderedDelivery[],
): Promise<void> {
  const organization = await ledger.organizations.find(due[0]?.organization ?? 0);
  if (organization === undefined) return;
  const { id, timezone } = organization;
  const read = worthReader(warehouse, ledger, nowMs);
  await renderDeliveries(ledger, due, {
    pages: `${address}/o/${id}`,
    today: zoneOf(timezone).dayOf(nowMs()),
    excludedAmong: (entities) => excludedEntities(warehouse, id, entities),
    worthOf: (entities) => worthByKey(read, organization, entities),
  });
}

interface RenderLedger {
  readonly ruleDecisions: Pick<SharedLedger["ruleDecisions"], "inMessages" | "named">;
  readonly deliveries: Pick<SharedLedger["deliveries"], "freeze">;
}

/** What is read for the messages of an organization. */
interface RenderGround extends Pick<MessageGround, "pages"> {
  /** In the organization's timezone. */
  readonly today: number;
  /** Which of the users and accounts are excluded now. */
  readonly excludedAmong: (entities: readonly RuleEntity[]) => Promise<readonly RuleEntity[]>;
  /** What users and accounts are worth, by key. */
  readonly worthOf: (entities: readonly RuleEntity[]) => Promise<MessageGround["worth"]>;
}

/** Renders deliveries of a rule, and keeps their bodies in the ledger. */
export async function renderDeliveries(
  { ruleDecisions, deliveries }: RenderLedger,
  due: readonly UnrenderedDelivery[],
  { pages, today, excludedAmong, worthOf }: RenderGround,
): Promise<void> {
  const [first] = due;
  if (first === undefined) return;
  const { organization, about } = first;
  const ids = [...new Set(due.flatMap((one) => one.about.alerts))];
  const found = await ruleDecisions.inMessages(organization, about.rule, ids, today);
  if (found === undefined) return deliveries.freeze(organization, due.map(canceled));
  const entities = found.alerts.map(({ entity }) => entity);
  const excluded = new Set((await excludedAmong(entities)).map(keyOfEntity));
  const ground = {
    pages,
    rule: found.rule,
    names: await ruleDecisions.named(organization, entities),
    worth: due.some(({ kind }) => kind !== "webhook") ? await worthOf(entities) : new Map(),
  };
  const named = found.alerts.filter(({ entity }) => !excluded.has(keyOfEntity(entity)));
  const alerts = new Map(named.map((alert) => [alert.id, alert]));
  const rendered = due.map((one) => renderedOf(ground, alerts, one));
  return deliveries.freeze(organization, rendered);
}

function canceled({ id, about }: UnrenderedDelivery): RenderedDelivery {
  return { id, about, body: null, entities: [] };
}

/** The body of a delivery. It has none if nobody is left whom it may name. */
function renderedOf(
  ground: Pick<MessageGround, "rule" | "names" | "worth" | "pages">,
  alerts: ReadonlyMap<number, MessageAlert>,
  delivery: UnrenderedDelivery,
): RenderedDelivery {
  const { id, type, about, createdAtMs: decidedAtMs, kind, sendsEmails: hasEmails } = delivery;
  // What a later step says is open may have closed since.
  const isSaid = ({ closedDay }: MessageAlert) => about.openForDays === undefined || closedDay === null;
  const found = about.alerts
    .flatMap((one) => alerts.get(one) ?? [])
    .filter(isSaid)
    .toSorted(byImportance);
  const left = about.total - (about.alerts.length - found.length);
  if (left === 0) return canceled(delivery);
  const named = found.slice(0, Math.min(about.cap, ruleLimits.messageRows));
  const said = { ...ground, hasEmails, decidedAtMs, openForDays: about.openForDays };
  const [only] = kind === "webhook" ? named : [];
  const body = only === undefined ? runBody(said, named, left) : alertBody(said, type, only);
  return { id, about, body, entities: named.map(({ entity }) => entity) };
}

/** Which of the users and accounts are excluded now. @throws WarehouseError */
async function excludedEntities(
  warehouse: Warehouse,
  organization: number,
  entities: readonly RuleEntity[],
): Promise<readonly RuleEntity[]> {
  const excluded: RuleEntity[] = [];
  for (const kind of ["user", "account"] as const satisfies readonly EntityKind[]) {
    const numbers = entities.flatMap((one) => (one.kind === kind ? [one.number] : []));
    const found = await excludedAmong(warehouse, organization, kind, numbers);
    excluded.push(...found.map((number) => ({ kind, number })));
  }
  return excluded;
}
