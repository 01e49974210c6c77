/**
 * The decision about a group of requests, compared with a simple model of the specification. Random
 * identifies and tracks are cut into random groups. The result must be that of one request after the other.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { limits } from "../../contract/limits.ts";
import { decide } from "../../server/intake/decide/decide.ts";
import { type Admitted, NeedsOf, type Outcome } from "../../server/intake/decide/requests.ts";
import type { AdmittedIdentify, SentAccount } from "../../server/intake/identify.ts";
import type { AdmittedTrack } from "../../server/intake/track.ts";
import { LedgerModel } from "./ledger-model.ts";
import { identify, requests, run, sizes } from "./requests.ts";
import { seeded } from "./support.ts";

const options = seeded("decide.test.ts", 500);

/** The fields of a user that a reader may see. */
interface Seen {
  email: string | null;
  traits: Map<string, string>;
  owner: boolean | null;
  account: string | null;
}

/** The fields of an account that a reader may see. */
interface SeenAccount {
  name: string;
  avatar: string | null;
  attributes: Map<string, string>;
}

/** The timestamp of each field. An older value changes nothing. A value with the time of arrival always
 * wins. */
class Times {
  readonly #atMs = new Map<string, number>();

  wins(key: string, { timestampMs, receivedAtMs }: AdmittedIdentify): boolean {
    const storedMs = this.#atMs.get(key) ?? 0;
    if (storedMs > timestampMs && timestampMs < receivedAtMs) return false;
    this.#atMs.set(key, Math.max(storedMs, timestampMs));
    return true;
  }
}

/** The specification as a simple model, one request at a time. */
class Model {
  readonly users = new Map<string, Seen>();
  readonly accounts = new Map<string, SeenAccount>();
  readonly events: string[] = [];
  readonly #remembered = new Set<string>();
  readonly #times = new Times();

  take(request: Admitted): Outcome {
    const message = `${request.organization}/${request.kind}/${request.messageId}`;
    if (request.messageId !== null && this.#remembered.has(message)) return "duplicate";
    const outcome = request.kind === "track" ? this.#track(request) : this.#identify(request);
    if (outcome === "stored" && request.messageId !== null) this.#remembered.add(message);
    return outcome;
  }

  #track({ organization, userId, event, messageId }: AdmittedTrack): Outcome {
    const user = this.users.get(`${organization}/${userId}`);
    if (user === undefined) return "not_found";
    this.events.push([organization, userId, event, messageId, user.account].join(" "));
    return "stored";
  }

  #identify(sent: AdmittedIdentify): Outcome {
    const { organization, userId, email, account } = sent;
    const key = `${organization}/${userId}`;
    const user: Seen = this.users.get(key) ?? { email: null, traits: new Map(), owner: null, account: null };
    this.users.set(key, user);
    const wins = (field: string) => this.#times.wins(`${key} ${field}`, sent);
    if (email !== undefined && wins("email")) user.email = email;
    for (const [name, value] of Object.entries(sent.traits)) {
      if (wins(`trait ${name}`)) user.traits.set(name, JSON.stringify(value));
    }
    if (sent.isAccountOwner !== undefined && wins("owner")) user.owner = sent.isAccountOwner;
    if (account !== undefined && wins("account")) user.account = account?.accountId ?? null;
    if (account) this.#account(sent, account);
    return "stored";
  }

  #account(sent: AdmittedIdentify, { accountId, name, avatar, properties = {} }: SentAccount): void {
    const key = `${sent.organization}/${accountId}`;
    const account = this.accounts.get(key) ?? { name: accountId, avatar: null, attributes: new Map() };
    this.accounts.set(key, account);
    const wins = (field: string) => this.#times.wins(`account ${key} ${field}`, sent);
    if (name !== undefined && wins("name")) account.name = name;
    if (avatar !== undefined && wins("avatar")) account.avatar = avatar;
    for (const [attribute, value] of Object.entries(properties)) {
      if (wins(`attribute ${attribute}`)) account.attributes.set(attribute, JSON.stringify(value));
    }
  }
}

function textsOf(traits: object): Map<string, string> {
  return new Map(Object.entries(traits).map(([name, trait]) => [name, JSON.stringify(trait)]));
}

/** The state of the ledger in the form of the model. */
function seenIn(ledger: LedgerModel) {
  const accountOf = (of: number, number: number) =>
    [...ledger.accounts.values()].find((one) => one.organization === of && one.number === number);
  const users = [...ledger.users.values()].map((user): [string, Seen] => [
    `${user.organization}/${user.userId}`,
    {
      email: user.email,
      traits: textsOf(user.traits),
      owner: user.isAccountOwner,
      account: accountOf(user.organization, user.account)?.accountId ?? null,
    },
  ]);
  const accounts = [...ledger.accounts.values()].map(
    ({ organization, accountId, name, avatar, traits }) =>
      [`${organization}/${accountId}`, { name, avatar, attributes: textsOf(traits) }] as const,
  );
  const events = (ledger.rows.get("events") ?? []).map(
    ([of, number, account, event, , , , id, isId, message]) => {
      const user = [...ledger.users.values()].find((one) => one.organization === of && one.number === number);
      const messageId = isId === true ? id : message;
      return [of, user?.userId, event, messageId, accountOf(Number(of), Number(account))?.accountId].join(
        " ",
      );
    },
  );
  return { users: new Map(users), accounts: new Map(accounts), events };
}

test("however requests are grouped, they end in what one after the other gives", () => {
  fc.assert(
    fc.property(requests, sizes, (all, groupSizes) => {
      const ledger = new LedgerModel();
      const model = new Model();
      const outcomes = run(ledger, all, groupSizes);
      expect(outcomes).toEqual(all.map((request) => model.take(request)));
      const seen = seenIn(ledger);
      expect(seen.users).toEqual(model.users);
      expect<ReadonlyMap<string, object>>(seen.accounts).toEqual(model.accounts);
      expect(seen.events.sort()).toEqual(model.events.sort());
    }),
    options,
  );
});

/** Expects rows of rising versions, the last of them the newest. */
function expectAscending(versions: readonly number[], newest: number): void {
  expect(versions).toEqual([...new Set(versions)].sort((a, b) => a - b));
  expect(versions.at(-1)).toBe(newest);
}

test("a user and an account that change often in a group have one row, and all versions of their values", () => {
  fc.assert(
    fc.property(identify, fc.integer({ min: 2, max: 20 }), (sent, changes) => {
      const ledger = new LedgerModel();
      const group = Array.from({ length: changes }, (_, index) => ({
        ...sent,
        messageId: null,
        timestampMs: sent.receivedAtMs,
        traits: { index },
        account: { accountId: "x", name: "X", avatar: undefined, properties: { index } },
      }));
      run(ledger, group, [changes]);
      const rowsOf = (table: string) => (ledger.rows.get(table) ?? []).length;
      expect(["users", "accounts"].map(rowsOf)).toEqual([1, 1]);
      expect(["user_versions", "account_versions"].map(rowsOf)).toEqual([changes, changes]);
    }),
    options,
  );
});

test("users and accounts are numbered from 1 without a gap, and versions rise to that of the last row", () => {
  fc.assert(
    fc.property(requests, sizes, (all, groupSizes) => {
      const ledger = new LedgerModel();
      run(ledger, all, groupSizes);
      for (const of of [1, 2]) {
        for (const kind of [ledger.users, ledger.accounts]) {
          const numbers = [...kind.values()]
            .filter((one) => one.organization === of)
            .map(({ number }) => number);
          expect(numbers.sort((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
        }
      }
      const versionsOf = (table: string, of: number, number: number, column: number) =>
        (ledger.rows.get(table) ?? [])
          .filter(([organization, one]) => organization === of && one === number)
          .map((row) => Number(row[column]));
      for (const { organization, number, version } of ledger.users.values()) {
        expectAscending(versionsOf("users", organization, number, 9), version);
      }
      for (const { organization, number, version } of ledger.accounts.values()) {
        expectAscending(versionsOf("accounts", organization, number, 7), version);
      }
    }),
    options,
  );
});

test("no two events share an id, and a replay writes nothing at all", () => {
  fc.assert(
    fc.property(requests, sizes, (all, groupSizes) => {
      const ledger = new LedgerModel();
      const outcomes = run(ledger, all, groupSizes);
      const ids = (ledger.rows.get("events") ?? []).map(([of, , , , , , , id]) => `${of} ${id}`);
      expect(new Set(ids).size).toBe(ids.length);
      const named = all.filter(
        ({ messageId }, index) => messageId !== null && outcomes[index] !== "not_found",
      );
      const replay = decide(named, ledger.stored(new NeedsOf(named)), 1_000);
      expect(replay.outcomes).toEqual(named.map(() => "duplicate"));
      expect(replay.writes).toEqual({
        users: [],
        accounts: [],
        inbox: [],
        versionRows: [],
        messages: [],
        dayCounts: [],
        nowMs: 1_000,
      });
    }),
    options,
  );
});

test("the day counts are what the events' rows add up to", () => {
  fc.assert(
    fc.property(requests, (all) => {
      const ledger = new LedgerModel();
      const { writes } = decide(all, ledger.stored(new NeedsOf(all)), 1_000);
      ledger.write(writes);
      const expected = new Map<string, { events: number; checksum: number }>();
      for (const [of, , , , timeMs, , , id] of ledger.rows.get("events") ?? []) {
        const key = `${of} ${Math.floor(Number(timeMs) / 86_400_000)}`;
        const before = expected.get(key) ?? { events: 0, checksum: 0 };
        const checksum = (before.checksum + Number.parseInt(String(id).slice(-8), 16)) % 2 ** 32;
        expected.set(key, { events: before.events + 1, checksum });
      }
      const counted = writes.dayCounts.map(
        ({ organization, utcDay, events, checksum }) =>
          [`${organization} ${utcDay}`, { events, checksum }] as const,
      );
      expect<ReadonlyMap<string, object>>(new Map(counted)).toEqual(expected);
    }),
    options,
  );
});

test("the last words in user_versions are what the user is, in whatever order they came", () => {
  fc.assert(
    fc.property(requests, sizes, (all, groupSizes) => {
      const ledger = new LedgerModel();
      run(ledger, all, groupSizes);
      for (const { organization, number, traits, account } of ledger.users.values()) {
        const said = (ledger.rows.get("user_versions") ?? [])
          .filter(([of, user]) => of === organization && user === number)
          .sort((a, b) => Number(a[3]) - Number(b[3]) || Number(a[2]) - Number(b[2]));
        const words = new Map(said.flatMap((row) => Object.entries(JSON.parse(String(row[4])))));
        expect(words).toEqual(new Map(Object.entries(traits)));
        expect(said.findLast((row) => row[5] !== null)?.[5] ?? 0).toBe(account);
      }
    }),
    options,
  );
});

test("the last values in account_versions are the account's attributes, in whatever order they came", () => {
  fc.assert(
    fc.property(requests, sizes, (all, groupSizes) => {
      const ledger = new LedgerModel();
      run(ledger, all, groupSizes);
      for (const { organization, number, traits } of ledger.accounts.values()) {
        const sent = (ledger.rows.get("account_versions") ?? [])
          .filter(([of, account]) => of === organization && account === number)
          .sort((a, b) => Number(a[3]) - Number(b[3]) || Number(a[2]) - Number(b[2]));
        const values = new Map(sent.flatMap((row) => Object.entries(JSON.parse(String(row[4])))));
        expect(values).toEqual(new Map(Object.entries(traits)));
        const [last] = (ledger.rows.get("accounts") ?? [])
          .filter(([of, account]) => of === organization && account === number)
          .toSorted((a, b) => Number(b[7]) - Number(a[7]));
        expect(JSON.parse(String(last?.[8]))).toEqual(traits);
      }
    }),
    options,
  );
});

test("the counted version rows are those of user_versions and account_versions", () => {
  fc.assert(
    fc.property(requests, (all) => {
      const ledger = new LedgerModel();
      const { writes } = decide(all, ledger.stored(new NeedsOf(all)), 1_000);
      ledger.write(writes);
      const counts = { user_versions: writes.versionRows, account_versions: writes.accountVersionRows ?? [] };
      for (const [table, rowsOf] of Object.entries(counts)) {
        const expected = new Map<unknown, { rows: number; versions: number }>();
        for (const [organization, , version] of ledger.rows.get(table) ?? []) {
          const { rows, versions } = expected.get(organization) ?? { rows: 0, versions: 0 };
          expected.set(organization, { rows: rows + 1, versions: versions + Number(version) });
        }
        const counted = rowsOf.map(({ organization, ...sums }) => [organization, sums] as const);
        expect<ReadonlyMap<unknown, object>>(new Map(counted)).toEqual(expected);
      }
    }),
    options,
  );
});

test("a late identify from before the erasure stays out, and a new one begins a new user", () => {
  fc.assert(
    fc.property(identify, fc.constantFrom(500, 700, 900), (sent, erasedAtMs) => {
      const ledger = new LedgerModel();
      ledger.erase(sent.organization, sent.userId, erasedAtMs);
      const late = sent.timestampMs < sent.receivedAtMs && sent.timestampMs < erasedAtMs;
      expect(run(ledger, [sent], [1])).toEqual([late ? "duplicate" : "stored"]);
      expect(ledger.user(sent.organization, sent.userId) === undefined).toBe(late);
      expect(ledger.rows.size === 0).toBe(late);
    }),
    options,
  );
});

test("a refused identify neither creates an account nor renames one", () => {
  fc.assert(
    fc.property(identify, fc.constantFrom("x", "y"), (sent, accountId) => {
      const ledger = new LedgerModel();
      const full = Object.fromEntries(
        Array.from({ length: limits.keys }, (_, index) => [`k${index}`, index]),
      );
      const known = { accountId: "x", name: "Known", avatar: null };
      const first = { ...sent, messageId: null, traits: full, account: known, timestampMs: 400 };
      const refused = {
        ...sent,
        messageId: null,
        traits: { more: 1 },
        account: { ...known, accountId, name: "New" },
      };
      const outcomes = run(ledger, [first, refused], [2]);
      expect(outcomes).toEqual(["stored", { invalid: expect.stringContaining("would give the user 1001") }]);
      expect([...ledger.accounts.values()].map(({ name, version }) => [name, version])).toEqual([
        ["Known", 1],
      ]);
      expect(ledger.rows.get("accounts")).toHaveLength(1);
    }),
    options,
  );
});
