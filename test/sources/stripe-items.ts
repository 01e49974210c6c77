/** The translation of Stripe's events, for tests that look at parts of it. */
import { expect } from "bun:test";
import type { SourcedIdentify, SourcedItem, SourcedTrack } from "../../server/intake/admission/sourced.ts";
import type { KnownPerson } from "../../server/sources/billing/person.ts";
import { translateStripe } from "../../server/sources/stripe/stripe.ts";
import { startSeconds, stripeEvent } from "./stripe-objects.ts";

export const nobody: KnownPerson = {
  linked: undefined,
  referenced: undefined,
  withEmail: undefined,
  isEmailShared: false,
  hasEmail: false,
};
export const delivery = { receivedAtMs: startSeconds * 1_000 + 5_000 };

/** The items of an event that must have some. */
export function itemsOf(
  event: object,
  known: Partial<KnownPerson> = {},
  unknown: "create" | "wait" = "create",
): readonly SourcedItem[] {
  const translated = translateStripe(event, delivery, { ...nobody, ...known }, unknown);
  if ("invalid" in translated) throw new Error(translated.invalid);
  expect(translated).toHaveLength(1);
  const [one] = translated;
  if (one === undefined || !("items" in one.translated)) throw new Error(JSON.stringify(one?.translated));
  return one.translated.items;
}

/** Why an event says nothing. */
export function ignored(event: object): string {
  const translated = translateStripe(event, delivery, nobody, "create");
  const [one] = "invalid" in translated ? [] : translated;
  if (one === undefined || !("ignored" in one.translated)) throw new Error(JSON.stringify(translated));
  return one.translated.ignored;
}

export const tracks = (items: readonly SourcedItem[]) =>
  items.filter((item): item is SourcedTrack => item.type === "track");
const identifies = (items: readonly SourcedItem[]) =>
  items.filter((item): item is SourcedIdentify => item.type === "identify");
export const eventNames = (event: object) => tracks(itemsOf(event)).map((track) => track.event);
export const propertiesOf = (event: object) => tracks(itemsOf(event))[0]?.properties;
export const traitsOf = (event: object) => identifies(itemsOf(event))[0]?.traits;

/** An update of a subscription, with what it had before. */
export const updated = (now: object, before: object) =>
  stripeEvent("customer.subscription.updated", now, { before });
