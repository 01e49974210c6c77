/** The translation of billing tools' payloads, for tests that look at parts of it. */
import { expect } from "bun:test";
import { whyNotBilling } from "../../../contract/billing/events.ts";
import type { WebhookPreset } from "../../../contract/source-settings.ts";
import type { SourcedIdentify, SourcedItem, SourcedTrack } from "../../../server/intake/admission/sourced.ts";
import type { UserAndAccount } from "../../../server/ledger/entities.ts";
import { translatePreset } from "../../../server/sources/webhook-presets.ts";
import type { Known } from "./cases.ts";

const delivery = { receivedAtMs: Date.UTC(2026, 5, 1) };

/** Translates a payload, with a ledger of this knowledge. */
export function translated(preset: WebhookPreset, body: unknown, { users, emails, links }: Known = {}) {
  const found = (userId: string) => {
    const traits = users?.[userId];
    if (traits === undefined) return undefined;
    const email = Object.keys(emails ?? {}).find((address) => emails?.[address]?.includes(userId)) ?? null;
    // The translation reads nothing else of a user.
    return { user: { userId, email, traits }, account: null } as unknown as UserAndAccount;
  };
  const ledger = {
    findUser: async (_organization: number, userId: string) => found(userId),
    identities: {
      linkedTo: async (_organization: number, id: string) => links?.[id],
      withEmail: async (_organization: number, email: string) => emails?.[email] ?? [],
    },
  };
  return translatePreset(ledger, 1, { preset, body }, delivery);
}

/** The items of a payload that must have some. */
export async function itemsOf(
  preset: WebhookPreset,
  body: unknown,
  known?: Known,
): Promise<readonly SourcedItem[]> {
  const result = await translated(preset, body, known);
  const [one] = "invalid" in result ? [] : result;
  if (one === undefined || !("items" in one.translated)) throw new Error(JSON.stringify(result));
  expect(one.sent).toBe(body);
  return one.translated.items;
}

/** Why a payload says nothing. */
export async function ignored(preset: WebhookPreset, body: unknown, known?: Known): Promise<string> {
  const result = await translated(preset, body, known);
  const [one] = "invalid" in result ? [] : result;
  if (one === undefined || !("ignored" in one.translated)) throw new Error(JSON.stringify(result));
  return one.translated.ignored;
}

/** Whether a text is an ISO 8601 instant, as all times of billing events are here. */
const isInstant = (text: string) => !Number.isNaN(Date.parse(text)) && text.endsWith("Z");

/** The events of a payload with their properties. None of them is activity, and billing events are valid. */
export async function eventsOf(preset: WebhookPreset, body: unknown, known?: Known) {
  const tracks = (await itemsOf(preset, body, known)).filter(
    (item): item is SourcedTrack => item.type === "track",
  );
  for (const { event, properties, isActivity } of tracks) {
    expect(isActivity).toBe(false);
    expect(whyNotBilling(event, properties, isInstant)).toBeUndefined();
  }
  return tracks.map(({ event, properties }) => [event, properties] as const);
}

/** The traits of a payload's user. */
export async function traitsOf(preset: WebhookPreset, body: unknown, known?: Known) {
  const items = await itemsOf(preset, body, known);
  return items.find((item): item is SourcedIdentify => item.type === "identify")?.traits;
}

/** Values of every wrong kind. */
const oddValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e308,
  "",
  "x",
  "1".repeat(400),
  "undefined",
  "2026-13-45T99:99:99Z",
  [],
  [null],
  [[[]]],
  {},
  { id: {} },
  { __proto__: null, constructor: 1 },
];

/** Copies of a payload in which one value, at any depth, is replaced. */
function* withOneOdd(payload: unknown, odd: unknown): Generator<unknown> {
  yield odd;
  if (Array.isArray(payload)) {
    for (const [index, item] of payload.entries()) {
      for (const changed of withOneOdd(item, odd)) yield payload.with(index, changed);
    }
  } else if (typeof payload === "object" && payload !== null) {
    for (const [key, value] of Object.entries(payload)) {
      for (const changed of withOneOdd(value, odd)) yield { ...payload, [key]: changed };
    }
  }
}

/** Translates every odd copy of the payloads. Each must be accepted, ignored or rejected with a reason, and
 * no amount may be anything but an integer. */
export async function expectNoHarm(preset: WebhookPreset, payloads: readonly object[]): Promise<void> {
  for (const payload of payloads) {
    for (const odd of oddValues) {
      for (const body of withOneOdd(payload, odd)) {
        const result = await translated(preset, body);
        if ("invalid" in result) {
          expect(result.invalid).toContain("body is not");
          continue;
        }
        expect(result).toHaveLength(1);
        for (const { translated: one } of result) {
          if (!("items" in one)) continue;
          expect(one.items.length).toBeGreaterThan(0);
          for (const item of one.items) expectSound(item);
        }
      }
    }
  }
}

function expectSound(item: SourcedItem): void {
  expect(Number.isSafeInteger(item.atMs)).toBe(true);
  if (item.type !== "track") return;
  const { amount, currency, subscriptionId, interval } = item.properties;
  if (amount !== undefined) expect(Number.isSafeInteger(amount)).toBe(true);
  for (const text of [currency, subscriptionId]) if (text !== undefined) expect(typeof text).toBe("string");
  // A unit of another name is the tool's own, and intake rejects it.
  if (interval !== undefined) expect(interval).toMatch(/^([1-9]\d*(e\+\d+)? )?\S+$/);
}
