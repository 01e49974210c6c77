/** The part of the contract about saved views, settings of sources, and searches for users without their
 * ids. */
import { describe, expect, test } from "bun:test";
import { Refusal } from "../../contract/refusal.ts";
import type { WebhookChange } from "../../server/features/source-settings/store.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { needs, user, writes } from "./writes.ts";

/** Characters that a store may take for its own: none of them is lost. */
const hostile = "a\0b\\0c\\d 'e' \"f\" {g} ünïcode 😀";

/** Declares the tests of views. */
export function viewsContract(subject: LedgerUnderTest): void {
  const save = (organization: number, name: string, page: "users" | "accounts" = "users") =>
    subject.ledger.views.add(organization, { page, name, query: "sort=name" }, commandLine, subject.nowMs);

  describe("views", () => {
    test("are listed by page and name, byte by byte, and are there after a restart", async () => {
      const { id } = await subject.organization();
      const other = await subject.organization("other");
      for (const name of ["b", "é", "A", hostile]) await save(id, name);
      await save(id, "z", "accounts");
      await save(other.id, "b");
      await subject.reopen();
      const views = await subject.ledger.views.list(id);
      expect(views.map(({ page, name }) => [page, name])).toEqual([
        ["accounts", "z"],
        ...["A", hostile, "b", "é"].map((name) => ["users", name]),
      ]);
      expect(views[1]).toMatchObject({ query: "sort=name", createdBy: null, createdAtMs: subject.nowMs });
    });

    test("are changed and deleted, and the log says how", async () => {
      const { id } = await subject.organization();
      const { views, audit } = subject.ledger;
      const saved = await save(id, "b");
      const later = subject.nowMs + 1;
      const change = (what: object) => views.change(id, saved.id, what, commandLine, later);
      expect(await change({ name: "b" })).toEqual(saved);
      const renamed = { ...saved, name: "c", updatedAtMs: later };
      expect(await change({ name: "c" })).toEqual(renamed);
      expect(await change({ query: "" })).toEqual({ ...renamed, query: "" });
      expect(await views.remove(id, saved.id, commandLine, later)).toBe(true);
      expect(await views.list(id)).toEqual([]);
      expect((await audit.list(id, { limit: 9 })).map(({ summary }) => summary)).toEqual([
        "Deleted the view c of users",
        "Changed the view c of users",
        "The view b of users is called c now",
        "Saved the view b of users",
      ]);
    });

    test("have a name of their own on a page", async () => {
      const { id } = await subject.organization();
      await save(id, "b");
      await save(id, "b", "accounts");
      const other = await save(id, "c");
      await expect(save(id, "b")).rejects.toThrow("name is taken: there is a view called b already.");
      const renamed = subject.ledger.views.change(id, other.id, { name: "b" }, commandLine, 1);
      await expect(renamed).rejects.toBeInstanceOf(Refusal);
    });
  });
}

const mapping = { event: { path: "name" }, userId: "user.id" } as const;

/** Declares the tests of what is set of sources. */
export function sourceSettingsContract(subject: LedgerUnderTest): void {
  describe("settings of sources", () => {
    test("webhooks are by name, changed and deleted", async () => {
      const { id } = await subject.organization();
      const other = await subject.organization("other");
      const { sourceSettings } = subject.ledger;
      for (const name of ["crm", "billing"]) {
        await sourceSettings.addWebhook(id, { name, mapping }, commandLine, subject.nowMs);
      }
      const again = sourceSettings.addWebhook(id, { name: "crm", mapping }, commandLine, 1);
      await expect(again).rejects.toThrow("name is taken: there is a webhook called crm already.");
      const crm = await sourceSettings.webhook(id, "crm");
      expect(await sourceSettings.webhook(other.id, "crm")).toBeUndefined();
      const changed = { ...mapping, userId: hostile };
      const atMs = subject.nowMs + 5;
      const change = { mapping: changed };
      const after = await sourceSettings.changeWebhook(id, crm?.id ?? 0, change, commandLine, atMs);
      expect(after?.createdAtMs).toBe(subject.nowMs);
      await subject.reopen();
      const kept = await subject.ledger.sourceSettings.webhooks(id);
      expect(kept.map(({ name }) => name)).toEqual(["billing", "crm"]);
      expect(kept[1]).toMatchObject({ mapping: changed, updatedAtMs: subject.nowMs + 5 });
      expect(await subject.ledger.sourceSettings.removeWebhook(id, crm?.id ?? 0, commandLine, 1)).toBe(true);
      expect(await subject.ledger.sourceSettings.webhook(id, "crm")).toBeUndefined();
    });

    test("a webhook keeps its secret, and has either a mapping or a preset", async () => {
      const { id } = await subject.organization();
      const { sourceSettings } = subject.ledger;
      const billing = { name: "billing", preset: "paddle", secret: hostile } as const;
      const added = await sourceSettings.addWebhook(id, billing, commandLine, subject.nowMs);
      const crm = await sourceSettings.addWebhook(id, { name: "crm", mapping }, commandLine, subject.nowMs);
      const change = (webhook: number, to: WebhookChange) =>
        subject.ledger.sourceSettings.changeWebhook(id, webhook, to, commandLine, subject.nowMs + 5);
      await expect(change(added.id, { mapping })).rejects.toThrow("mapping cannot be set");
      await expect(change(crm.id, { secret: hostile })).rejects.toThrow("signature is missing");
      const signed = { secret: hostile, signature: "standard-webhooks" } as const;
      expect(await change(crm.id, signed)).toMatchObject({ mapping, ...signed });
      await subject.reopen();
      expect(await subject.ledger.sourceSettings.webhook(id, "billing")).toEqual(added);
      expect(added).toMatchObject(billing);
      expect(await change(added.id, { secret: hostile })).toEqual(added);
      const { secret: _, ...without } = { ...added, secret: hostile };
      expect(await change(added.id, { secret: null })).toEqual({
        ...without,
        updatedAtMs: subject.nowMs + 5,
      });
    });

    stripeSettings(subject);
  });

  usersByAddress(subject);
}

function stripeSettings(subject: LedgerUnderTest): void {
  test("of Stripe what is given is changed, and no secret is in the log", async () => {
    const { id } = await subject.organization();
    const { sourceSettings, audit } = subject.ledger;
    const initially = {
      signingSecrets: [],
      unknownCustomers: "wait" as const,
      testMode: "ignore" as const,
      updatedAtMs: null,
    };
    expect(await sourceSettings.stripe(id)).toEqual(initially);
    const change = (what: object, atMs: number) => sourceSettings.changeStripe(id, what, commandLine, atMs);
    expect(await change({ unknownCustomers: "wait" }, 5)).toEqual(initially);
    await change({ signingSecrets: ["whsec_secret_1234"] }, 6);
    const after = {
      signingSecrets: ["whsec_secret_1234"],
      unknownCustomers: "create" as const,
      testMode: "ignore" as const,
      updatedAtMs: 7,
    };
    expect(await change({ unknownCustomers: "create" }, 7)).toEqual(after);
    expect(await sourceSettings.stripe(id)).toEqual(after);
    const entries = await audit.list(id, { limit: 9 });
    expect(entries.map(({ summary }) => summary)).toEqual([
      "Changed of Stripe: unknown customers",
      "Changed of Stripe: signing secrets",
    ]);
    expect(JSON.stringify(entries)).not.toContain("whsec_secret");
    await change({ testMode: "take" }, 8);
    expect(await sourceSettings.stripe(id)).toEqual({ ...after, testMode: "take", updatedAtMs: 8 });
    const [last] = await audit.list(id, { limit: 1 });
    expect(last?.summary).toBe("Changed of Stripe: test mode");
  });
}

function usersByAddress(subject: LedgerUnderTest): void {
  test("users are found by their address, three at most, upper and lower case alike", async () => {
    const { id } = await subject.organization();
    const other = await subject.organization("other");
    const ids = ["one", "two", hostile, "four"];
    const found = ids.map((userId, at) =>
      user(id, userId, { number: at + 1, email: at === 3 ? "Ada\\@Example.com" : "ada@example.COM" }),
    );
    const nobody = user(id, "nobody", { number: 5, email: null });
    await subject.ledger.transact(needs({ users: [...found, nobody] }), () =>
      writes(subject.nowMs, { users: [...found, nobody] }),
    );
    const { identities } = subject.ledger;
    expect(await identities.withEmail(id, "ADA@example.com")).toHaveLength(3);
    expect(new Set(await identities.withEmail(id, "ADA@example.com"))).toEqual(new Set(ids.slice(0, 3)));
    expect(await identities.withEmail(id, "ada\\@example.com")).toEqual(["four"]);
    expect(await identities.withEmail(other.id, "ada@example.com")).toEqual([]);
    expect(await identities.withEmail(id, "")).toEqual([]);
    expect(await identities.linkedTo(id, "one")).toBeUndefined();
  });
}
