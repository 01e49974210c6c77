/** Webhooks through HTTP: their tokens, and bodies that a mapping reads. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { auditLog, company } from "../people/support.ts";
import { Server } from "../server.ts";
import { expectError, user } from "../specification/support.ts";
import { until } from "../until.ts";
import { customer } from "./stripe-objects.ts";
import { at, deliver, eventsOf, withStripe } from "./webhooks-support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.shared();
  await server.ready();
});
afterAll(() => server?.stop());

describe("the token", () => {
  const body = at("customer.created", 0, customer());

  test("is taken from the address, a parameter or a header, and no other is", async () => {
    const token = await server.organization("Webhook tokens");
    const taken = [
      deliver(server, `/v1/webhooks/stripe/${token}`, body),
      deliver(server, `/v1/webhooks/stripe/${token}/`, body),
      deliver(server, `//v1/webhooks/stripe/${token}`, body),
      deliver(server, `/v1/webhooks/stripe?token=${token}`, body),
      server.post("/v1/webhooks/stripe", token, body),
      deliver(server, "/v1/webhooks/stripe", body, { Authorization: `Basic ${btoa(`${token}:`)}` }),
    ];
    for (const response of await Promise.all(taken)) expect(response.status).toBe(200);
    const wrong = `rk-${"0".repeat(32)}`;
    for (const path of [`stripe/${wrong}`, "stripe", "stripe/", `stripe?token=${wrong}`, `forms/${wrong}`]) {
      await expectError(await deliver(server, `/v1/webhooks/${path}`, body), "invalid_write_key");
    }
    for (const path of [
      "/v1/webhooks",
      "/v1/webhooks/",
      `/v1/webhooks/No/${token}`,
      `/v1/webhooks/a/${token}/b`,
    ]) {
      await expectError(await deliver(server, path, body), "not_found");
    }
    const read = await fetch(`${server.url}/v1/webhooks/stripe/${token}`);
    expect([read.status, read.redirected]).toEqual([404, false]);
  });

  test("is in no log and in no live view, and neither is what an answer says", async () => {
    const { token, browser } = await withStripe(server, "Webhook secrets");
    const stopping = new AbortController();
    const live = await fetch(`${server.url}/api/live?organization=${browser.organization}`, {
      headers: { Cookie: `${browser.cookieName}=${browser.cookie}` },
      signal: stopping.signal,
    });
    let shown = "";
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of live.body ?? []) shown += decoder.decode(chunk, { stream: true });
    })().catch(() => undefined);
    const answers = [];
    for (const sent of [
      { ...body, token, link: `/v1/webhooks/stripe/${token}` },
      { nothing: token },
      "no JSON",
    ]) {
      answers.push(await (await deliver(server, `/v1/webhooks/stripe/${token}`, sent)).text());
    }
    // The last of an item is an empty line.
    await until(
      "three items are shown",
      () => shown,
      (text) => (text.match(/^event: item\n.*\n\n/gm) ?? []).length >= 3,
    );
    stopping.abort();
    await reading;
    expect(shown).toContain('"endpoint":"stripe"');
    for (const text of [shown, server.output(), ...answers]) expect(text).not.toContain(token);
  });
});

describe("a webhook of one's own", () => {
  const mapping = {
    items: "events",
    userId: "user.id",
    email: "user.email",
    event: { path: "type" },
    messageId: "id",
    timestamp: "at",
    traits: { plan: "user.plan" },
    properties: "data",
  };

  test("takes only what its tool signed, once it has a secret, which nobody is shown", async () => {
    const { name, token, owner, at: path } = await company(server, "Signed webhook");
    const signature = {
      header: "X-Hub-Signature-256",
      algorithm: "sha256",
      encoding: "hex",
      prefix: "sha256=",
    };
    const own = { userId: "user", event: { text: "signed" }, messageId: "id" };
    const secret = "a secret of the tool ABCD";
    const settings = { name: "signed", mapping: own, secret, signature };
    const added = await owner.json<{ id: number }>("POST", path("/api/webhooks"), settings, 201);
    expect(added).toMatchObject({ mapping: own, preset: null, secret: { lastFour: "ABCD" }, signature });
    const sent = async (id: string, by?: string) => {
      const body = JSON.stringify({ user: "ada", id });
      const header = by && `sha256=${createHmac("sha256", by).update(body).digest("hex")}`;
      const headers: Record<string, string> = header ? { "X-Hub-Signature-256": header } : {};
      const response = await deliver(server, `/v1/webhooks/signed/${token}`, body, headers);
      return [response.status, await response.text()] as const;
    };
    await server.post("/identify", token, user("ada"));
    expect(await sent("1", secret)).toEqual([200, '{"success":true}']);
    expect(await sent("2")).toEqual([400, expect.stringContaining("X-Hub-Signature-256 is missing")]);
    expect(await sent("3", "another secret")).toEqual([
      400,
      expect.stringContaining("check the signing secret"),
    ]);

    const one = path(`/api/webhooks/${added.id}`);
    const fresh = await owner.json("PATCH", one, { secret: "a newer secret EFGH" });
    expect(fresh).toMatchObject({ mapping: own, secret: { lastFour: "EFGH" }, signature });
    expect((await sent("4", secret))[0]).toBe(400);
    expect((await sent("5", "a newer secret EFGH"))[0]).toBe(200);
    const opened = await owner.json("PATCH", one, { secret: null });
    expect(opened).toMatchObject({ mapping: own, secret: null, signature: null });
    expect((await sent("6"))[0]).toBe(200);
    const log = await auditLog(owner);
    const changes = log.filter(({ summary }) => summary.includes("webhook signed"));
    expect(changes.map(({ summary }) => summary)).toEqual([
      "Changed how the webhook signed is verified",
      "Changed how the webhook signed is verified",
      "Added the webhook signed",
    ]);
    expect(changes[1]?.detail).toEqual({
      name: "signed",
      from: { mapping: own, secret: "ABCD", signature },
      to: { mapping: own, secret: "EFGH", signature },
    });
    for (const text of [JSON.stringify(log), server.output()])
      expect(text).not.toContain("secret of the tool");
    const ids = (await eventsOf(server, name)).map(({ messageId }) => messageId);
    expect(ids.sort()).toEqual(["webhook:signed:1", "webhook:signed:5", "webhook:signed:6"]);
  });

  test("is read as its mapping says, each message once, good ones beside bad ones", async () => {
    const { name, token, owner, at: path } = await company(server, "Own webhook");
    await owner.json("POST", path("/api/webhooks"), { name: "forms", mapping }, 201);
    const message = (id: string, more: object = {}) => ({
      id,
      type: "Form sent",
      at: "2026-05-17T11:00:00+02:00",
      data: { form: "contact" },
      user: { id: 42, email: "ada@example.com", plan: "Gold" },
      ...more,
    });
    const rounded = message("m3", { data: { snowflake: 1 } });
    const text = JSON.stringify({
      events: [message("m1"), message("m1"), message("m2", { user: {} }), rounded],
    });
    const sent = text.replace('"snowflake":1', '"snowflake":1234567890123456789');
    const response = await deliver(server, `/v1/webhooks/forms/${token}`, sent, {
      "Content-Type": "text/plain",
    });
    expect([response.status, await response.json()]).toEqual([200, { success: true }]);
    const events = await eventsOf(server, name);
    expect(events).toHaveLength(2);
    for (const event of events) expect(event).toMatchObject({ event: "Form_sent", userId: "42" });
    expect(events.map(({ properties }) => JSON.stringify(properties)).sort()).toEqual([
      '{"form":"contact"}',
      '{"snowflake":"1234567890123456789"}',
    ]);
    expect(await server.exported("users", name)).toEqual([
      expect.objectContaining({ userId: "42", email: "ada@example.com", properties: { plan: "Gold" } }),
    ]);
  });

  test("has messages whose ids are numbers of more digits than JSON's readers keep, each of them once", async () => {
    const { name, token, owner, at: path } = await company(server, "Long ids");
    const ids = Array.from(
      { length: 20 },
      (_, index) => `12345678901234567${String(index).padStart(2, "0")}`,
    );
    const event = { text: "called" };
    const mappings = {
      flat: { userId: "who", email: "email", event, messageId: "id" },
      deep: { items: "in[0]", userId: "who", email: "email", event, messageId: 'its["ids"][1]' },
    };
    for (const [webhook, mapping] of Object.entries(mappings)) {
      await owner.json("POST", path("/api/webhooks"), { name: webhook, mapping }, 201);
    }
    const who = '"who":"ada","email":"ada@example.com"';
    const flat = `[${ids.map((id) => `{${who},"id":${id}}`).join()}]`;
    const deep = `{"in":[[${ids.map((id) => `{${who},"its":{"ids":[0,${id}.5]}}`).join()}]]}`;
    for (const [webhook, text] of Object.entries({ flat, deep })) {
      for (const _time of [1, 2]) {
        const sent = await deliver(server, `/v1/webhooks/${webhook}/${token}`, text);
        expect(sent.status).toBe(200);
      }
    }
    expect(await eventsOf(server, name)).toHaveLength(40);
  });

  test("has message ids of its own, which other webhooks and sources may have too", async () => {
    const { name, token, owner, at: path } = await company(server, "Ids of webhooks");
    const mapping = { userId: "who", email: "email", event: { text: "called" }, messageId: "id" };
    for (const webhook of ["alpha", "beta"]) {
      await owner.json("POST", path("/api/webhooks"), { name: webhook, mapping }, 201);
    }
    const who = { who: "ada", email: "ada@example.com" };
    const long = "m".repeat(256);
    for (const webhook of ["alpha", "beta", "alpha"]) {
      const body = [1, 2, long].map((id) => ({ ...who, id }));
      expect((await deliver(server, `/v1/webhooks/${webhook}/${token}`, body)).status).toBe(200);
    }
    await server.post("/track", token, { userId: "ada", event: "opened", messageId: "2" });
    const events = await eventsOf(server, name);
    const ids = events.map(({ event, messageId }) => `${event} ${messageId}`);
    const hash = new Bun.CryptoHasher("sha256").update(long).digest("hex");
    const ofEach = ["alpha", "beta"].flatMap((webhook) =>
      ["1", "2", `sha256:${hash}`].map((id) => `called webhook:${webhook}:${id}`),
    );
    expect(ids.sort()).toEqual([...ofEach, "opened 2"].sort());
  });

  test("takes an array, and refuses unreadable bodies and webhooks that are not set up", async () => {
    const { name, token, owner, at: path } = await company(server, "Array webhook");
    const called = { userId: "who", event: { text: "called" }, isActivity: true };
    await owner.json("POST", path("/api/webhooks"), { name: "calls", mapping: called }, 201);
    expect((await deliver(server, `/v1/webhooks/calls/${token}`, [{ who: "a" }, { who: "b" }])).status).toBe(
      200,
    );
    expect(await server.command("export", "events", "--organization", name, "--format", "jsonl")).toBe("");
    const refused: readonly (readonly [string, unknown, string])[] = [
      ["calls", "no JSON", "body is not valid JSON"],
      ["others", {}, "There is no webhook called others"],
    ];
    for (const [webhook, body, why] of refused) {
      await expectError(
        await deliver(server, `/v1/webhooks/${webhook}/${token}`, body),
        "validation_error",
        why,
      );
    }
    await server.post("/identify", token, user("a"));
    expect((await eventsOf(server, name)).map(({ event, userId }) => [event, userId])).toEqual([
      ["called", "a"],
    ]);
  });
});
