/** Presets of webhooks: billing tools that are read by their own tables of types, without a mapping. */
import type { TestMode, WebhookPreset } from "../../contract/source-settings.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { type ReadMessage, translateMessage } from "./billing/message.ts";
import { findPerson, ownerOf } from "./billing/person.ts";
import { translateTransfer } from "./billing/transfer.ts";
import { readChargebee } from "./chargebee.ts";
import { readLemonsqueezy } from "./lemonsqueezy.ts";
import { readPaddle } from "./paddle.ts";
import { readPolar } from "./polar.ts";
import { readRevenuecat } from "./revenuecat.ts";
import type { Delivery, TranslatedItem } from "./source.ts";

const readers: Readonly<Record<WebhookPreset, (body: unknown) => ReadMessage>> = {
  paddle: readPaddle,
  chargebee: readChargebee,
  revenuecat: readRevenuecat,
  lemonsqueezy: readLemonsqueezy,
  polar: readPolar,
};

type Translation = readonly TranslatedItem[] | { readonly invalid: string };

/** A body that a webhook with a preset got. */
interface PresetMessage {
  readonly preset: WebhookPreset;
  readonly body: unknown;
  readonly testMode?: TestMode | undefined;
}

/** Translates a body with the ledger's knowledge of its customer. @returns invalid for a body that is not the
 * tool's */
export async function translatePreset(
  ledger: Pick<Ledger, "identities" | "findUser">,
  organization: number,
  { preset, body, testMode = "ignore" }: PresetMessage,
  delivery: Delivery,
): Promise<Translation> {
  const read = readers[preset](body);
  if ("ignored" in read || "invalid" in read) return withoutFacts(body, read);
  if (read.testMode !== undefined && testMode === "ignore")
    return [{ sent: body, translated: { ignored: read.testMode, isTestMode: true } }];
  if ("from" in read) return translateTransfer(ledger, organization, body, read, delivery);
  const owner = ownerOf(read.person, await findPerson(ledger, organization, read.person), "wait");
  const user = owner?.userId === undefined ? undefined : await ledger.findUser(organization, owner.userId);
  return translateMessage(body, read, delivery, owner, user?.user.traits ?? {});
}

/** Translates a body as if the ledger had no user. */
export function translateUnknown(body: unknown, preset: WebhookPreset, delivery: Delivery): Translation {
  const read = readers[preset](body);
  if ("ignored" in read || "invalid" in read) return withoutFacts(body, read);
  if ("from" in read)
    return [{ sent: body, translated: { ignored: "No subscription is known that could move." } }];
  const unknown = { linked: undefined, referenced: undefined, withEmail: undefined };
  const known = { ...unknown, isEmailShared: false, hasEmail: false };
  return translateMessage(body, read, delivery, ownerOf(read.person, known, "wait"), {});
}

function withoutFacts(
  body: unknown,
  read: { readonly invalid: string } | { readonly ignored: string },
): Translation {
  return "invalid" in read ? read : [{ sent: body, translated: read }];
}
