/** Destinations over HTTP: from the form to the receiver, and the log of what was sent. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { auditLog, company } from "../people/support.ts";
import { quick } from "../served-as.ts";
import { Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { until } from "../until.ts";
import { documentOf, notDescribed } from "./described.ts";
import { type MailServer, startMailServer } from "./mail-server.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

let [server, receiver, mails]: [Server, Receiver, MailServer] = [] as never;
beforeAll(async () => {
  receiver = await startReceiver();
  mails = await startMailServer();
  server = await Server.start({
    role: "intake",
    time: quick,
    env: {
      ALLOW_PRIVATE_DESTINATIONS: receiver.allowed,
      SMTP_URL: mails.url(),
      MAIL_FROM: "Rekindle <rekindle@example.com>",
      PUBLIC_URL: "https://rekindle.example.com",
    },
  });
});
afterAll(async () => {
  await server.stop();
  receiver.stop();
  await mails.stop();
});

interface Destination {
  readonly id: number;
  readonly name: string;
  readonly state: string;
  readonly address: string | null;
  readonly pending: number;
  readonly held: number;
}
interface Created {
  readonly destination: Destination;
  readonly secret: string | null;
}
interface Delivery {
  readonly id: number;
  readonly messageId: string;
  readonly state: string;
  readonly status: number | null;
  readonly said: string | null;
  readonly attempts: number;
}

/** An organization with a destination at a path of the receiver. */
async function sending(name: string, path: string, kind = "webhook") {
  const people = await company(server, name);
  const { owner, at } = people;
  const body = { kind, name: "Hooks", address: receiver.address(path) };
  const { destination, secret } = await owner.json<Created>("POST", at("/api/destinations"), body, 201);
  const one = (rest = "") => at(`/api/destinations/${destination.id}${rest}`);
  const deliveries = async (who = owner) =>
    (await who.json<{ deliveries: Delivery[] }>("GET", at("/api/deliveries"))).deliveries;
  const sendTest = () => owner.json<Delivery>("POST", one("/test"), undefined, 201);
  const got = (messageId: string) =>
    receiver.got.filter(({ headers }) => headers["webhook-id"] === messageId);
  return { ...people, destination, secret, one, deliveries, sendTest, got };
}

test("a test message reaches the receiver, verifies by the secret that was shown, and is in the log", async () => {
  const { secret, sendTest, deliveries, got, owner, at, viewer } = await sending("Tested", "/200");
  const { messageId } = await sendTest();
  await until(
    "the message is delivered",
    async () => (await deliveries())[0]?.state,
    (seen) => seen === "delivered",
  );
  const [message] = got(messageId);
  const verified = new Webhook(secret ?? "").verify(message?.body ?? "", message?.headers ?? {});
  expect(verified).toMatchObject({ type: "test", data: { link: "https://rekindle.example.com" } });
  expect(notDescribed(await documentOf(server), message?.body ?? "")).toEqual([]);
  expect((await deliveries())[0]).toMatchObject({ messageId, status: 200, said: "status 200", attempts: 1 });
  expect((await deliveries(viewer))[0]).toMatchObject({ messageId, status: 200, said: null });
  const shownTo = async (who: typeof owner) =>
    JSON.stringify(await who.json<object>("GET", at("/api/destinations")));
  expect(await shownTo(owner)).not.toContain("whsec_");
  expect(await shownTo(owner)).toContain(receiver.address("/200"));
  expect(await shownTo(viewer)).not.toContain("/200");
  expect(await shownTo(viewer)).toContain(`"host":"hooks.internal:${receiver.port}"`);
});

test("a new secret signs beside the one before", async () => {
  const { secret, sendTest, deliveries, got, owner, one } = await sending("Rotating", "/200");
  const { secret: next } = await owner.json<Created>("POST", one("/secret"), undefined, 201);
  expect(next).not.toBe(secret);
  const { messageId } = await sendTest();
  await until(
    "the message is delivered",
    async () => (await deliveries())[0]?.state,
    (seen) => seen === "delivered",
  );
  const [message] = got(messageId);
  for (const known of [secret, next])
    new Webhook(known ?? "").verify(message?.body ?? "", message?.headers ?? {});
});

test("Slack gets text and blocks, and its address is never shown again", async () => {
  const { destination, secret, sendTest, deliveries } = await sending("Slackers <3 & co", "/slack", "slack");
  expect([secret, destination.address]).toEqual([null, null]);
  await sendTest();
  await until(
    "the message is delivered",
    async () => (await deliveries())[0]?.state,
    (seen) => seen === "delivered",
  );
  const body = receiver.got.findLast(({ path }) => path === "/slack")?.body ?? "";
  expect(JSON.parse(body)).toMatchObject({ blocks: [{ type: "section", text: { type: "mrkdwn" } }] });
  expect(body).toContain("Slackers &lt;3 &amp; co");
});

test("a message that failed is sent again, by hand too, with the same id", async () => {
  const { owner, at, one, sendTest, deliveries, got } = await sending("Failing", "/500");
  const { id, messageId } = await sendTest();
  await until(
    "the first attempt has failed",
    async () => (await deliveries())[0]?.attempts,
    (seen) => seen === 1,
  );
  expect((await deliveries())[0]).toMatchObject({ state: "pending", status: 500, said: "status 500" });
  await owner.json("PATCH", one(), { address: receiver.address("/200") });
  await owner.done("POST", at(`/api/deliveries/${id}/again`));
  await until(
    "the message is delivered",
    async () => (await deliveries())[0]?.state,
    (seen) => seen === "delivered",
  );
  expect(got(messageId).map(({ path }) => path)).toEqual(["/500", "/200"]);
  expect((await auditLog(owner))[0]).toMatchObject({
    action: "delivery.sent_again",
    summary: "Sent a message (test) to the destination Hooks again",
  });
});

test("a paused destination holds its messages until they are sent", async () => {
  const { owner, at, one, sendTest, deliveries, got } = await sending("Paused", "/200");
  await owner.json("PATCH", one(), { state: "paused" });
  const { id, messageId, state } = await sendTest();
  expect(state).toBe("held");
  await expectError(await owner.ask("POST", one("/held"), { held: "send" }), "conflict");
  await expectError(await owner.ask("POST", at(`/api/deliveries/${id}/again`)), "conflict");
  expect(await owner.json<Destination>("PATCH", one(), { state: "active" })).toMatchObject({ held: 1 });
  expect(got(messageId)).toEqual([]);
  expect(await owner.json<object>("POST", one("/held"), { held: "send" })).toEqual({ messages: 1 });
  expect((await auditLog(owner))[0]).toMatchObject({
    action: "destination.held_sent",
    summary: "Sent 1 held message of the destination Hooks",
  });
  await until(
    "the message is delivered",
    async () => (await deliveries())[0]?.state,
    (seen) => seen === "delivered",
  );
});

test("a destination that answers 410 is disabled, as the log of changes and a mail to the owners say", async () => {
  const { owner, viewer, organization, at, one, sendTest, deliveries } = await sending("Gone", "/410");
  await sendTest();
  await until(
    "the message has failed",
    async () => (await deliveries())[0]?.state,
    (seen) => seen === "failed",
  );
  const { destinations } = await owner.json<{ destinations: Destination[] }>("GET", at("/api/destinations"));
  expect(destinations[0]).toMatchObject({ state: "disabled" });
  expect((await auditLog(owner))[0]).toMatchObject({ action: "destination.disabled" });
  await expectError(await owner.ask("POST", one("/test")), "conflict");
  const mailsOf = (email: string) =>
    mails.received.filter(({ to, text }) => to.includes(email) && text.includes("is disabled"));
  await until(
    "the owner has a mail",
    () => mailsOf(owner.email),
    ({ length }) => length === 1,
  );
  const text = mailsOf(owner.email)[0]?.text.replaceAll("=\r\n", "");
  expect(text).toContain("Subject: Gone: the destination Hooks is disabled");
  expect(text).toContain("The receiver answered 410: the address does not exist any more.");
  expect(text).toContain(`https://rekindle.example.com/o/${organization}/settings/destinations`);
  // The address of a webhook is a secret.
  expect(text).not.toContain(receiver.address("/410"));
  expect(mailsOf(viewer.email)).toEqual([]);
});

test("a destination that hangs delays no other, and no write request", async () => {
  const { owner, at, token, sendTest, deliveries } = await sending("Hanging", "/hang");
  const begun = () => receiver.got.filter(({ path }) => path === "/hang").length;
  for (let n = 0; n < 30; n += 1) await sendTest();
  const identified = await server.post("/identify", token, { userId: "ada", email: "ada@example.com" });
  const tracked = await server.post("/track", token, { userId: "ada", event: "opened" });
  expect([identified.status, tracked.status]).toEqual([201, 201]);
  const body = { kind: "webhook", name: "Quick", address: receiver.address("/200") };
  const { destination } = await owner.json<Created>("POST", at("/api/destinations"), body, 201);
  await owner.json("POST", at(`/api/destinations/${destination.id}/test`), undefined, 201);
  await until("the message is delivered", async () =>
    (await deliveries()).some(({ state }) => state === "delivered"),
  );
  // The others came first. Each four of them hang for 15 s.
  expect(begun()).toBeLessThan(30);
});

test("only owners change destinations, of their own organization, at addresses that are allowed", async () => {
  const { owner, member, at, one, destination } = await sending("Guarded", "/200");
  const body = { kind: "webhook", name: "Other", address: receiver.address("/200") };
  await expectError(await member.ask("POST", at("/api/destinations"), body), "forbidden");
  await expectError(await member.ask("DELETE", one()), "forbidden");
  for (const address of ["http://example.com/", "ftp://example.com/", "https://a:b@example.com/", "x"]) {
    await expectError(
      await owner.ask("POST", at("/api/destinations"), { ...body, address }),
      "validation_error",
    );
  }
  const hidden = { address: "https://10.0.0.5/hook" };
  for (const refused of [
    await owner.ask("POST", at("/api/destinations"), { ...body, ...hidden }),
    await owner.ask("PATCH", one(), hidden),
  ]) {
    await expectError(refused, "validation_error", "10.0.0.5 is no public", "ALLOW_PRIVATE_DESTINATIONS");
  }
  await expectError(
    await owner.ask("POST", at("/api/destinations"), { ...body, name: "Hooks" }),
    "validation_error",
  );
  const other = await company(server, "Guarded by others");
  const theirs = other.at(`/api/destinations/${destination.id}`);
  await expectError(await other.owner.ask("DELETE", theirs), "not_found");
  await expectError(await other.owner.ask("PATCH", theirs, { name: "Mine" }), "not_found");
  await owner.done("DELETE", one());
});

test("a member's own digest is none of the 20 destinations, and owners only stop it", async () => {
  const { owner, viewer, at } = await company(server, "Full");
  const body = (name: string) => ({ kind: "webhook", name, address: receiver.address("/200") });
  const add = (name: string) => owner.ask("POST", at("/api/destinations"), body(name));
  for (let n = 1; n < 20; n += 1) expect((await add(`hook ${n}`)).status).toBe(201);
  const choose = (who: typeof owner) => who.ask("PUT", at("/api/own-digest"), { period: "daily" });
  expect((await choose(viewer)).status).toBe(200);
  expect((await add("hook 20")).status).toBe(201);
  await expectError(await add("hook 21"), "validation_error");
  expect((await choose(owner)).status).toBe(200);
  const { destinations } = await owner.json<{ destinations: Destination[] }>("GET", at("/api/destinations"));
  expect(destinations).toHaveLength(22);
  const digest = `Digest of member ${viewer.id}`;
  const { id = 0, address } = destinations.find(({ name }) => name === digest) ?? {};
  const change = (of: number, wanted: object) =>
    owner.ask("PATCH", at(`/api/destinations/${of}`), wanted).then(({ status }) => status);
  const hook = destinations.find(({ name }) => name === "hook 1")?.id ?? 0;
  // The last one sends the mail that asks again.
  expect([
    await change(id, { name: "Mine" }),
    await change(id, { notices: ["scores.completed"] }),
    await change(id, { address: "other@example.com" }),
    await change(hook, { name: "Digest of member 77" }),
    (await add("digest of member 77")).status,
    await change(id, { address }),
  ]).toEqual([409, 409, 409, 400, 400, 200]);
  await owner.done("DELETE", at(`/api/destinations/${id}`));
  expect(await viewer.json<object>("GET", at("/api/own-digest"))).toMatchObject({ period: "off" });
  await expectError(await add("hook 21"), "validation_error");
});

test("a viewer's own digest fills neither the audit log nor the mails of a day that owners have", async () => {
  const { owner, viewer, at } = await company(server, "Repeated");
  const answers = [];
  for (let n = 0; n < 20; n += 1) {
    answers.push((await viewer.ask("PUT", at("/api/own-digest"), { period: "daily" })).status);
  }
  expect(answers).toEqual([200, 200, 200, ...Array.from({ length: 17 }, () => 429)]);
  const mail = (mails.received.findLast(({ text }) => text.includes("agree#"))?.text ?? "")
    .replaceAll("=\r\n", "")
    .replaceAll("=3D", "=");
  const [, destination, code] = /\/agree#(\d+)\/([A-Za-z0-9_-]{43})/.exec(mail) ?? [];
  await viewer.json("POST", "/api/destinations/agree", { destination: Number(destination), code });
  for (let n = 0; n < 20; n += 1) {
    await viewer.json("PUT", at("/api/own-digest"), { period: "daily" });
  }
  const body = { kind: "email", name: "Ada", address: "ada@repeated.example" };
  await owner.json("POST", at("/api/destinations"), body, 201);
  const { entries } = await owner.json<{ entries: { action: string }[] }>("GET", at("/api/audit-log"));
  expect(entries.map(({ action }) => action).filter((action) => action.startsWith("destination."))).toEqual([
    "destination.asked",
    "destination.created",
    "destination.agreed",
    "destination.asked",
    "destination.asked",
    "destination.asked",
    "destination.created",
  ]);
});

test("an e-mail address gets messages once its recipient has agreed, until they unsubscribe", async () => {
  const { owner, at } = await company(server, "Mailing");
  const body = { kind: "email", name: "Ada", address: "ada@mailing.example" };
  const { destination } = await owner.json<Created>("POST", at("/api/destinations"), body, 201);
  const one = (rest = "") => at(`/api/destinations/${destination.id}${rest}`);
  const mailsToAda = () => mails.received.filter(({ to }) => to.includes("ada@mailing.example"));
  const text = () =>
    (mailsToAda().at(-1)?.text ?? "")
      .replaceAll("=\r\n", "")
      .replaceAll("=3D", "=")
      .replace(/\r\n[ \t]+/g, " ");
  expect(destination.state).toBe("unconfirmed");
  const early = await owner.ask("POST", one("/test"));
  expect(await early.clone().text()).toContain("The recipient has not agreed yet.");
  await expectError(early, "conflict");
  await expectError(await owner.ask("PATCH", one(), { state: "active" }), "conflict");
  await owner.json("PATCH", one(), { address: body.address });
  expect(mailsToAda()).toHaveLength(2);
  const [, id, code] =
    /https:\/\/rekindle\.example\.com\/agree#(\d+)\/([A-Za-z0-9_-]{43})/.exec(text()) ?? [];
  const agree = (given: string) =>
    owner.ask("POST", "/api/destinations/agree", { destination: Number(id), code: given });
  await expectError(await agree("x".repeat(43)), "not_found");
  expect(await (await agree(code ?? "")).json()).toEqual({ address: "ada@mailing.example", state: "active" });
  await owner.json("POST", one("/test"), undefined, 201);
  await until(
    "the third mail has arrived",
    () => mailsToAda(),
    ({ length }) => length === 3,
  );
  const [, unsubscribe = ""] =
    /List-Unsubscribe: <https:\/\/rekindle\.example\.com([^>]+)>/.exec(text()) ?? [];
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  const stranger = (method: string) =>
    fetch(server.url + unsubscribe, {
      method,
      headers: { ...headers, Host: "rekindle.example.com" },
      ...(method === "POST" && { body: "List-Unsubscribe=One-Click" }),
    });
  await stranger("GET");
  const { destinations } = await owner.json<{ destinations: Destination[] }>("GET", at("/api/destinations"));
  expect(destinations[0]?.state).toBe("active");
  expect(await (await stranger("POST")).json()).toEqual({
    address: "ada@mailing.example",
    state: "disabled",
  });
  await expectError(await owner.ask("POST", one("/test")), "conflict");
  expect(await owner.json<Destination>("PATCH", one(), { state: "paused" })).toMatchObject({
    state: "unconfirmed",
  });
  await until(
    "the fourth mail has arrived",
    () => mailsToAda(),
    ({ length }) => length === 4,
  );
});

test("the command line lists destinations, sends a test, and fails with it", async () => {
  const { owner, one } = await sending("Commanded", "/200");
  const of = ["--organization", "Commanded"];
  const list = await server.command("destination", "list", ...of);
  expect(list).toMatch(/^ID +KIND +NAME .* STATE +PENDING +HELD .*\n\d+ +webhook +Hooks .* active +0 +0 /);
  expect(await server.command("destination", "test", "Hooks", ...of)).toBe("delivered: 200 status 200\n");
  await owner.json("PATCH", one(), { address: receiver.address("/404") });
  expect(await server.run({}, "destination", "test", "Hooks", ...of)).toMatchObject({
    exitCode: 1,
    stdout: "failed: 404 status 404\n",
  });
  await owner.json("PATCH", one(), { state: "paused" });
  const paused = await server.run({}, "destination", "test", "Hooks", ...of);
  expect([paused.exitCode, paused.stderr]).toEqual([
    1,
    expect.stringContaining("is paused and sends nothing"),
  ]);
  const unknown = await server.run({}, "destination", "test", "x", ...of);
  expect([unknown.exitCode, unknown.stderr]).toEqual([1, expect.stringContaining('no destination "x"')]);
});

/** The links of a page in mails to an address. */
const linksTo = (page: string, address: string) =>
  mails.received
    .filter(({ to }) => to.includes(address))
    .flatMap(
      ({ text }) => text.replaceAll("=\r\n", "").match(new RegExp(`/${page}#[A-Za-z0-9_-]{43}`, "g")) ?? [],
    );

test("invitations and password links are sent by e-mail, and a failure is said", async () => {
  const { owner, at } = await company(server, "Inviting");
  interface Invited {
    readonly link: string;
    readonly notMailedBecause: string | null;
  }
  const invite = (email: string) =>
    owner.json<Invited>("POST", at("/api/invitations"), { email, role: "viewer" }, 201);
  const { link, notMailedBecause } = await invite("new@inviting.example");
  expect(notMailedBecause).toBeNull();
  expect(link).toEndWith(linksTo("invitation", "new@inviting.example")[0] ?? "no mail");
  expect((await invite("nobody@inviting.example")).notMailedBecause).toContain("No such mailbox");
  expect(await owner.json<object>("GET", "/api/installation")).toMatchObject({ sendsEmail: true });

  const printed = await server.command("member", "reset-link", owner.email);
  // Both parts of the mail, text and HTML, have the link.
  expect(printed.trim()).toEndWith(linksTo("password", owner.email)[0] ?? "no mail");
});

test("without SMTP_URL an invitation says that no e-mail was sent", async () => {
  const without = await Server.start({ role: "intake" });
  try {
    const { owner, at } = await company(without, "Silent");
    const body = { email: "new@silent.example", role: "viewer" };
    expect(await owner.json<object>("POST", at("/api/invitations"), body, 201)).toMatchObject({
      notMailedBecause: "This installation sends no e-mail: SMTP_URL and MAIL_FROM are not set.",
    });
    const mail = { kind: "email", name: "Ada", address: "ada@silent.example" };
    await expectError(await owner.ask("POST", at("/api/destinations"), mail), "conflict");
    expect(await owner.json<object>("GET", "/api/installation")).toMatchObject({ sendsEmail: false });
  } finally {
    await without.stop();
  }
});

test("addresses that no mail can be sent to are refused, of destinations and of invitations", async () => {
  const { owner, at } = await company(server, "Misaddressed");
  const before = mails.received.length;
  const odd = [
    "a@b.test>",
    "<a@b.test>",
    "Ada <a@b.test>",
    "a@b.test\u0000",
    "a@b.test\u001b[1m",
    "a\u202eb@c.test",
  ];
  for (const address of [
    ...odd,
    "a\u200bb@c.test",
    "a b@c.test",
    "a@b.test,c@d.test",
    "a@b.test\nc@d.test",
  ]) {
    const destination = { kind: "email", name: "Ada", address };
    const refused = await owner.ask("POST", at("/api/destinations"), destination);
    await expectError(refused, "validation_error", "no e-mail address");
    const invitation = { email: address, role: "viewer" };
    const invited = await owner.ask("POST", at("/api/invitations"), invitation);
    await expectError(invited, "validation_error", "email");
  }
  expect(mails.received.length).toBe(before);
  const right = { kind: "email", name: "Ada", address: " Ö'Neil+x@ä.test " };
  const { destination } = await owner.json<Created>("POST", at("/api/destinations"), right, 201);
  expect(destination.address).toBe("ö'neil+x@ä.test");
  const changed = { address: "a@b.test>" };
  const change = await owner.ask("PATCH", at(`/api/destinations/${destination.id}`), changed);
  await expectError(change, "validation_error", "no e-mail address");
});

test("an address gets three mails with invitations a day from anybody, and a person makes a hundred", async () => {
  const { owner, at } = await company(server, "Hosts of many");
  const other = await company(server, "Hosts of more");
  type Made = { readonly id: number; readonly link: string; readonly notMailedBecause: string | null };
  const invite = (email: string, by = { owner, at }) =>
    by.owner.json<Made>("POST", by.at("/api/invitations"), { email, role: "viewer" }, 201);
  const to = (email: string) =>
    mails.received.filter((mail) => mail.to.some((one) => one.toLowerCase() === email)).length;
  const tooOften = "This address was invited 3 times within 24 hours.";
  for (const [index, by] of [{ owner, at }, { owner, at }, other, other].entries()) {
    const { id, link, notMailedBecause } = await invite(
      index === 0 ? "Often@inviting.test" : "often@inviting.test",
      by,
    );
    expect(link).toContain("/invitation#");
    expect(notMailedBecause).toBe(index < 3 ? null : tooOften);
    // Taking it back makes no room for another one.
    await by.owner.done("DELETE", by.at(`/api/invitations/${id}`));
  }
  expect(to("often@inviting.test")).toBe(3);
  // Two are there already.
  for (let made = 2; made < 100; made++) await invite(`new${made}@inviting.test`);
  const email = "late@inviting.test";
  const refused = await owner.ask("POST", at("/api/invitations"), { email, role: "viewer" });
  await expectError(refused, "rate_limit_exceeded", "100 invitations within 24 hours");
  expect(to(email)).toBe(0);
  expect((await invite(email, other)).notMailedBecause).toBeNull();
  // The command line, which sends no mail, has no such limit.
  expect(await server.command("member", "invite", email, "--organization", "Hosts of many")).toContain(
    "/invitation#",
  );
});
