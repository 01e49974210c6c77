/** A placeholder id that earlier versions stored keeps working, and no other is stored. */
import { expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import type { AdmittedIdentify } from "../../server/intake/identify.ts";
import type { AdmittedTrack } from "../../server/intake/track.ts";
import { LedgerModel } from "./ledger-model.ts";
import { run } from "./requests.ts";

const at = { organization: 1, messageId: null, receivedAtMs: 1_000, zone: new Zone("UTC") };
const identify = (userId: string, traits: object = {}): AdmittedIdentify => ({
  kind: "identify",
  ...at,
  userId,
  email: undefined,
  traits: { ...traits },
  isAccountOwner: undefined,
  account: undefined,
  timestampMs: 1_000,
});
const track = (userId: string): AdmittedTrack => ({
  kind: "track",
  organization: 1,
  messageId: null,
  receivedAtMs: 1_000,
  userId,
  event: "done",
  timeMs: 1_000,
  day: 0,
  properties: "{}",
  isOfPast: false,
});

test("a placeholder id that is stored keeps working, in any spelling that is stored", () => {
  const ledger = new LedgerModel();
  run(ledger, [identify("ada")], [1]);
  const [key, ada] = [...ledger.users][0] ?? [];
  expect(key).toBe(JSON.stringify([1, "ada"]));
  if (ada !== undefined)
    ledger.users.set(JSON.stringify([1, "undefined"]), { ...ada, userId: "undefined", number: 2 });
  const outcomes = run(
    ledger,
    [identify("undefined", { plan: "pro" }), track("undefined"), track("null")],
    [1],
  );
  expect(outcomes).toEqual(["stored", "stored", { invalid: expect.stringContaining("placeholder") }]);
  expect(ledger.user(1, "undefined")?.traits).toEqual({ plan: "pro" });
});
