/** The client's types are written out, because a published declaration must not need the contract's library.
 * Here they are held to the contract: by the compiler both ways, and by the schemas at run time. */
import { expect, test } from "bun:test";
import type { Static } from "typebox";
import { Compile } from "typebox/compile";
import type {
  Account,
  AccountAttributes,
  Failure,
  Identify,
  Item,
  Track,
  Traits,
} from "../../client/rekindle.ts";
import type { ErrorName } from "../../contract/errors.ts";
import { BatchIdentify, BatchTrack, type IdentifyBody, type TrackBody } from "../../contract/write-api.ts";

/** In brackets: a union is judged whole. */
type Fits<A, B> = [A] extends [B] ? true : false;
type Both<A, B> = [Fits<A, B>, Fits<B, A>];
/** As JSON has it: a Date becomes text. */
type Sent<T> = T extends unknown
  ? { [K in keyof T]: K extends "timestamp" ? Exclude<T[K], Date> : T[K] }
  : never;
type Known<T> = { [K in keyof T as string extends K ? never : K]: T[K] };

type Contract = Static<typeof IdentifyBody>;
type ContractAccount = NonNullable<Contract["account"]>;
type ContractTraits = NonNullable<Contract["properties"]>;

test("the compiler finds the same fields and values here and in the contract", () => {
  const alike: Record<string, [true, true]> = {
    identify: [true, true] satisfies Both<Omit<Sent<Identify>, "timestamp">, Contract>,
    account: [true, true] satisfies Both<Account, ContractAccount>,
    attributes: [true, true] satisfies Both<
      Known<AccountAttributes>,
      NonNullable<ContractAccount["properties"]>
    >,
    traits: [true, true] satisfies Both<Known<Traits>, ContractTraits>,
    keysOfIdentify: [true, true] satisfies Both<Exclude<keyof Identify, "timestamp">, keyof Contract>,
    keysOfTraits: [true, true] satisfies Both<keyof Known<Traits>, keyof ContractTraits>,
    track: [true, true] satisfies Both<Sent<Track>, Pick<Static<typeof TrackBody>, keyof Track>>,
    items: [true, true] satisfies Both<
      Sent<Item>["type"],
      Static<typeof BatchIdentify>["type"] | Static<typeof BatchTrack>["type"]
    >,
  };
  const names: [true] = [true] satisfies [Fits<ErrorName, Failure["name"]>];
  expect(Object.values(alike).flat().concat(names)).not.toContain(false);
});

test("the schemas accept every value that the types allow", () => {
  const identify = Compile(BatchIdentify);
  const track = Compile(BatchTrack);
  const least: Item[] = [
    { type: "identify", userId: 1, email: "a@b.co" },
    { type: "track", userId: "u", event: "e" },
  ];
  const properties = {
    owner: "cs@example.com",
    renewsAt: "2027-03-31",
    contractValue: 12_000.5,
    tier: ["a"],
  };
  const most: Item[] = [
    {
      type: "identify",
      userId: "u",
      email: "a@b.co",
      isAccountOwner: true,
      messageId: "m",
      timestamp: new Date(0),
      account: { id: 1, name: "Acme", avatar: null, properties },
      properties: { name: "Ada", avatar: null, plan: null, segment: "s", companySize: "1", other: [{}] },
    },
    { type: "track", userId: 1, event: "e", timestamp: null, messageId: null, properties: { a: 1 } },
  ];
  const nothing = { properties: null, isAccountOwner: null, account: null, messageId: null, timestamp: null };
  const nulls: Item[] = [{ type: "identify", userId: 1, email: "a@b.co", ...nothing }];
  for (const item of [...least, ...most, ...nulls]) {
    const sent: unknown = JSON.parse(JSON.stringify(item));
    expect((item.type === "identify" ? identify : track).Check(sent)).toBe(true);
  }
  expect(identify.Check({ type: "identify", userId: 1 })).toBe(false);
});
