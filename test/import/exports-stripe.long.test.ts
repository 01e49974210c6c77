/** `rekindle import --from stripe`: subscriptions and invoices as the API lists them, and as the dashboard
 * writes CSV. */
import { expect, test } from "bun:test";
import { invoice, price, startSeconds, subscription, subscriptionItem } from "../sources/stripe-objects.ts";
import { at, delivered, eventsOf, withStripe } from "../sources/webhooks-support.ts";
import { importBench } from "./bench.ts";
import { countsOf } from "./support.ts";

const bench = importBench();

const second = (day: number) => Date.UTC(2024, 0, 1) / 1_000 + day * 86_400;
const time = (day: number) => new Date(second(day) * 1_000).toISOString();

async function organization(name: string): Promise<void> {
  await bench.server.command("organization", "create", name, "--timezone", "Europe/Paris");
  const people = bench.file(
    `${name}-users.csv`,
    "userId,email\nada,ada@example.com\ngrace,grace@example.com\n",
  );
  await bench.import(people, name);
}

async function imported(name: string, file: string) {
  const result = await bench.import(file, name, "--from", "stripe");
  expect([result.exitCode, result.stderr]).toEqual([0, ""]);
  return countsOf(result);
}

const shown = (rows: readonly Record<string, unknown>[]) =>
  rows.map(({ userId, event, timestamp, messageId }) => [userId, event, timestamp, messageId]);

const ended = subscription({
  id: "sub_old",
  status: "canceled",
  metadata: { userId: "ada", accountId: "acme" },
  created: second(0),
  start_date: second(0),
  trial_end: second(14),
  canceled_at: second(50),
  ended_at: second(60),
});
const running = subscription(
  { id: "sub_new", created: second(70), start_date: second(70), metadata: { userId: "ada" } },
  [subscriptionItem({ quantity: 3, subscription: "sub_new" }, price({ unit_amount: 1_000 }))],
);
const paid = invoice({
  id: "in_paid",
  created: second(70),
  metadata: { userId: "ada" },
  status_transitions: {
    finalized_at: second(70),
    marked_uncollectible_at: null,
    paid_at: second(71),
    voided_at: null,
  },
});
const open = invoice({
  id: "in_open",
  created: second(80),
  status: "open",
  amount_paid: 0,
  attempt_count: 2,
  metadata: { userId: "ada" },
});

test("the API's list of subscriptions and JSON lines of invoices become the events of a webhook", async () => {
  await organization("json");
  const draft = invoice({ id: "in_draft", status: "draft", metadata: { userId: "ada" } });
  const list = bench.file("subscriptions.json", JSON.stringify({ object: "list", data: [ended, running] }));
  expect(await imported("json", list)).toEqual({ rows: 2, new: 2, duplicate: 0, rejected: 0 });
  const invoices = bench.file(
    "invoices.jsonl",
    [paid, open, draft].map((one) => JSON.stringify(one)).join("\n"),
  );
  expect(await imported("json", invoices)).toEqual({ rows: 3, new: 2, duplicate: 0, rejected: 0 });
  const rows = await eventsOf(bench.server, "json");
  // Its item says when the period ends.
  const scheduledId = `sub_old:cancellation_scheduled:${second(50)}:${startSeconds + 30 * 86_400}`;
  expect(shown(rows)).toEqual([
    ["ada", "subscription_started", time(0), "sub_old:subscription_started"],
    ["ada", "trial_converted", time(14), `sub_old:trial_converted:${second(14)}`],
    ["ada", "cancellation_scheduled", time(50), scheduledId],
    ["ada", "subscription_canceled", time(60), "sub_old:subscription_canceled"],
    ["ada", "subscription_started", time(70), "sub_new:subscription_started"],
    ["ada", "payment_succeeded", time(71), "in_paid:payment_succeeded"],
    ["ada", "payment_failed", time(80), "in_open:payment_failed:2"],
  ]);
  expect(rows[0]).toMatchObject({
    isActivity: false,
    properties: {
      subscriptionId: "sub_old",
      plan: "Team",
      amount: 4_900,
      currency: "eur",
      interval: "month",
    },
  });
  expect(rows[2]).toMatchObject({ properties: { endsAt: time(60) } });
  const currentPeriodEnd = new Date((startSeconds + 30 * 86_400) * 1_000).toISOString();
  expect(rows[4]).toMatchObject({ properties: { amount: 3_000, quantity: 3, currentPeriodEnd } });
  expect(rows[6]).toMatchObject({ properties: { invoiceId: "in_open", amount: 4_900, attempt: 2 } });
  const users = await bench.server.exported("users", "json");
  expect(users.find(({ userId }) => userId === "ada")).toMatchObject({
    email: "ada@example.com",
    account: { id: "acme" },
    properties: { plan: "Team", planAmount: 3_000, subscriptionStatus: "active" },
  });
});

test("a later export with a newer state brings only what is new", async () => {
  await organization("later");
  const file = (name: string, object: object) => bench.file(name, `${JSON.stringify(object)}\n`);
  const before = subscription({ ...running, id: "sub_later" });
  expect(await imported("later", file("before.jsonl", before))).toMatchObject({ new: 1 });
  const after = { ...before, status: "canceled", canceled_at: second(90), ended_at: second(90) };
  expect(await imported("later", file("after.jsonl", after))).toMatchObject({ new: 1, duplicate: 0 });
  expect(shown(await eventsOf(bench.server, "later")).map(([, event]) => event)).toEqual([
    "subscription_started",
    "subscription_canceled",
  ]);
});

test("the webhook and an import do not double a fact, whichever comes first", async () => {
  const { token } = await withStripe(bench.server, "both");
  const people = bench.file("both-users.csv", "userId,email\nada,ada@example.com\n");
  await bench.import(people, "both");
  await delivered(bench.server, token, at("customer.subscription.created", 0, running));
  const file = bench.file("both.jsonl", [running, paid].map((one) => JSON.stringify(one)).join("\n"));
  expect(await imported("both", file)).toMatchObject({ rows: 2, new: 1, duplicate: 1 });
  await delivered(bench.server, token, at("invoice.paid", 1, paid));
  expect(
    shown(await eventsOf(bench.server, "both"))
      .map(([, event]) => event)
      .toSorted(),
  ).toEqual(["payment_succeeded", "subscription_started"]);
});

const subscriptionsCsv = `id,Customer ID,Customer Name,Customer Email,Plan,Quantity,Currency,Interval,Amount,Status,Cancellation Reason,Created (UTC),Start Date (UTC),Current Period Start (UTC),Current Period End (UTC),Trial End (UTC),Canceled At (UTC),Ended At (UTC),userId (metadata)
sub_a,cus_a,Ada,ada@example.com,price_team,2,eur,month,"20,50",active,,2024-01-01 00:00,2024-01-01 00:00,2024-03-01 00:00,2024-04-01 00:00,,,,
sub_b,cus_b,Grace,,price_year,1,jpy,3 months,9800,canceled,payment_failed,2024-01-02 09:30,2024-01-02 09:30,2024-01-02 09:30,2024-04-02 09:30,,2024-02-02 10:00,2024-02-02 10:00,grace
sub_c,cus_c,Nobody,nobody@example.com,price_team,1,eur,month,abc,active,,2024-01-01,2024-01-01,,,,,,
`;
const invoicesCsv = `id,Amount Due,Amount Paid,Currency,Customer,Customer Email,Date (UTC),Finalized At (UTC),Paid At (UTC),Paid,Status,Subscription
in_a,41.00,41.00,eur,cus_a,ada@example.com,2024-01-01 00:00,2024-01-01 00:00,2024-01-01 01:00,true,paid,sub_a
in_v,41.00,0.00,eur,cus_a,ada@example.com,2024-02-01 00:00,2024-02-01 00:00,,false,void,sub_a
`;

test("the dashboard's CSV: amounts in major units, customers found by metadata and by e-mail address", async () => {
  await organization("csv");
  const result = await bench.import(
    bench.file("subscriptions.csv", subscriptionsCsv),
    "csv",
    "--from",
    "stripe",
  );
  expect(countsOf(result)).toEqual({ rows: 3, new: 2, duplicate: 0, rejected: 1 });
  expect(result.stdout).toContain('line 4: Amount is not an amount: "abc".');
  expect(await imported("csv", bench.file("invoices.csv", invoicesCsv))).toMatchObject({
    new: 1,
    rejected: 0,
  });
  const rows = await eventsOf(bench.server, "csv");
  expect(shown(rows)).toEqual([
    ["ada", "subscription_started", "2024-01-01T00:00:00.000Z", "sub_a:subscription_started"],
    ["ada", "payment_succeeded", "2024-01-01T01:00:00.000Z", "in_a:payment_succeeded"],
    ["grace", "subscription_started", "2024-01-02T09:30:00.000Z", "sub_b:subscription_started"],
    ["grace", "subscription_canceled", "2024-02-02T10:00:00.000Z", "sub_b:subscription_canceled"],
  ]);
  expect(rows[0]).toMatchObject({
    properties: { plan: "price_team", amount: 4_100, currency: "eur", interval: "month", quantity: 2 },
  });
  expect(rows[0]).toMatchObject({ properties: { currentPeriodEnd: "2024-04-01T00:00:00.000Z" } });
  expect(rows[1]).toMatchObject({
    properties: { amount: 4_100, subscriptionId: "sub_a", invoiceId: "in_a" },
  });
  expect(rows[2]).toMatchObject({ properties: { amount: 9_800, currency: "jpy", interval: "3 months" } });
  expect(rows[3]).toMatchObject({ properties: { reason: "payment_failed" } });
});

const ofCustomer = (customer: string, customer_email: string | null, more: object = {}) => ({
  ...invoice({
    id: `in_${customer}_${Object.keys(more).length}`,
    customer,
    customer_email,
    created: second(70),
  }),
  ...more,
});
const unmatchedRows = [
  ofCustomer("cus_grace", "Grace@example.com"),
  ofCustomer("cus_bob", "bob@example.com"),
  ofCustomer("cus_later", null),
  // Its user is named by another row of the file.
  ofCustomer("cus_later", null, { metadata: { userId: "ada" } }),
  ofCustomer("cus_silent", null),
  ofCustomer("cus_bob", "bob@example.com", { metadata: {}, total: 1 }),
];

test("customers who match no user are named before and after, and become users where that is wanted", async () => {
  await organization("unmatched");
  const file = bench.file("unmatched.jsonl", unmatchedRows.map((one) => JSON.stringify(one)).join("\n"));
  const run = (...options: string[]) => bench.import(file, "unmatched", "--from", "stripe", ...options);
  const found = [
    "unmatched  2 customers match no user",
    "  cus_bob bob@example.com",
    "  cus_silent without an e-mail address: its events are held",
    "  their events are held for 30 days. --create-unmatched makes users of 1",
  ];
  const preview = await run("--preview");
  expect(preview.stdout.split("\n").slice(-5)).toEqual([...found, ""]);
  const before = await run();
  expect(before.stdout.trimEnd().split("\n").slice(-4)).toEqual([
    ...found.slice(0, 3),
    "  their events are held for 30 days. --create-unmatched --as-another-import makes users of 1",
  ]);
  const usersOf = async () =>
    (await bench.server.exported("users", "unmatched")).map(({ userId, email }) => [userId, email]);
  const known = [
    ["ada", "ada@example.com"],
    ["grace", "grace@example.com"],
  ];
  expect(await usersOf()).toEqual(known);
  const created = await run("--create-unmatched", "--as-another-import");
  expect(countsOf(created)).toMatchObject({ rows: 6, rejected: 0 });
  expect(created.stdout).toContain("  cus_bob bob@example.com: becomes a user");
  expect(created.stdout).not.toContain("for 30 days");
  expect((await usersOf()).toSorted()).toEqual([...known, ["cus_bob", "bob@example.com"]].toSorted());
  const payments = (await eventsOf(bench.server, "unmatched")).map(({ userId, messageId }) => [
    userId,
    messageId,
  ]);
  expect(payments.toSorted()).toEqual([
    ["ada", "in_cus_later_0:payment_succeeded"],
    ["ada", "in_cus_later_1:payment_succeeded"],
    ["cus_bob", "in_cus_bob_0:payment_succeeded"],
    ["cus_bob", "in_cus_bob_2:payment_succeeded"],
    ["grace", "in_cus_grace_0:payment_succeeded"],
  ]);
  // The webhook finds the same user.
  const token = (await bench.server.command("token", "create", "--organization", "unmatched")).trim();
  await delivered(bench.server, token, at("invoice.paid", 1, ofCustomer("cus_bob", null, { id: "in_live" })));
  const live = (await eventsOf(bench.server, "unmatched")).find(
    ({ messageId }) => messageId === "in_live:payment_succeeded",
  );
  expect(live?.userId).toBe("cus_bob");
  const other = await bench.import(file, "unmatched", "--from", "segment", "--create-unmatched");
  expect([other.exitCode, other.stderr]).toEqual([1, expect.stringContaining("means nothing for segment")]);
});

test("a new file whose customers are created in its own run", async () => {
  await organization("created at once");
  const people = Array.from({ length: 25 }, (_, index) => ({
    ...invoice({ id: `in_${index}`, customer: `cus_${index}`, created: second(70) }),
    customer_email: `c${index}@example.com`,
  }));
  const file = bench.file("at-once.jsonl", people.map((one) => JSON.stringify(one)).join("\n"));
  const result = await bench.import(file, "created at once", "--from", "stripe", "--create-unmatched");
  expect(countsOf(result)).toMatchObject({ rows: 25, new: 25 });
  expect(result.stdout).toContain("and 5 more: --preview lists all");
  expect(await bench.server.exported("users", "created at once")).toHaveLength(27);
  expect(await eventsOf(bench.server, "created at once")).toHaveLength(25);
});
