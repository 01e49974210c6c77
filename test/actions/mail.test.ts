/** E-mail by a real mail server with STARTTLS. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../server/config.ts";
import { sendMail } from "../../server/sending/mail.ts";
import { mailOf, plainMail } from "../../server/sending/message-body.ts";
import { run } from "../server.ts";
import { type MailServer, startMailServer } from "./mail-server.ts";

let server: MailServer;
beforeAll(async () => {
  server = await startMailServer();
});
afterAll(() => server.stop());

const config = (user = "") => ({
  smtpUrl: server.url(user),
  from: "Rekindle <rekindle@example.com>",
});
const mail = plainMail("ada@example.com", "Zoë's links", "Open this.", "https://example.com/agree#1/x");

describe("a mail", () => {
  test("is sent over an encrypted connection, with the header of automatic mails", async () => {
    expect(await sendMail(config("me:right@"), mail)).toMatchObject({ status: 250 });
    const last = server.received.at(-1);
    expect(last).toMatchObject({ isSecure: true, user: "me" });
    expect(last?.text).toContain("Auto-Submitted: auto-generated");
    expect(last?.text).toContain("To: ada@example.com");
    expect(last?.text).not.toContain("List-Unsubscribe");
  });

  test("of a destination can be unsubscribed by one click", async () => {
    const rows = [{ name: "<Engines> & co", text: "churn risk 61 %", link: "https://example.com/a?b=1&c=2" }];
    const message = {
      type: "test",
      timestamp: "",
      data: { text: "Two\naccounts", link: "https://x/", rows },
    } as const;
    await sendMail(
      config(),
      mailOf(message, "ada@example.com", "https://example.com/api/unsubscribe/1/code"),
    );
    const text = server.received.at(-1)?.text ?? "";
    expect(text).toContain("List-Unsubscribe: <https://example.com/api/unsubscribe/1/code>");
    expect(text).toContain("List-Unsubscribe-Post: List-Unsubscribe=One-Click");
    expect(text).toContain("Subject: Two accounts");
    expect(text).toContain("&lt;Engines&gt; &amp; co");
    expect(text.replaceAll("=\r\n", "")).toContain("https://example.com/unsubscribe#1/code");
  });

  test("whose recipient is refused has the server's reply code", async () => {
    expect(await sendMail(config(), { ...mail, to: "nobody@example.com" })).toMatchObject({ status: 550 });
  });

  test("has no status when the server refuses the installation, so that it is tried again", async () => {
    const refusal = (responseCode: number) => Object.assign(new Error("Refused"), { responseCode });
    const refusing = {
      login: { authOptional: false },
      greeting: { onConnect: (_: unknown, done: (error: Error) => void) => done(refusal(554)) },
      sender: {
        onMailFrom: (_: unknown, __: unknown, done: (error: Error) => void) => done(refusal(550)),
      },
    };
    expect(await sendMail(config("me:wrong@"), mail)).toMatchObject({
      status: null,
      said: expect.stringContaining("535"),
    });
    for (const [settings, code] of [
      [refusing.login, "530"],
      [refusing.greeting, "554"],
      [refusing.sender, "550"],
    ] as const) {
      const strict = await startMailServer(settings);
      const sent = await sendMail({ ...config(), smtpUrl: strict.url() }, mail);
      await strict.stop();
      expect(sent).toMatchObject({ status: null, said: expect.stringContaining(code) });
    }
  });

  test("to a slow server ends at one deadline for all steps", async () => {
    const slow = await startMailServer({
      onMailFrom: (_address, _session, done) => setTimeout(done, 200),
      onRcptTo: (_address, _session, done) => setTimeout(done, 200),
    });
    const beganMs = performance.now();
    const sent = await sendMail({ ...config(), smtpUrl: slow.url() }, mail, { step: 60_000, whole: 300 });
    expect(sent).toEqual({ status: null, said: "Not sent within 0.3 s.", retryAfterMs: null });
    // Within the time of one step, however busy the machine is.
    expect(performance.now() - beganMs).toBeLessThan(60_000);
    await slow.stop();
    expect(slow.received).toEqual([]);
  });

  test("to an address with more in it reaches no other recipient, and adds no header", async () => {
    const before = server.received.length;
    await sendMail(config(), {
      ...mail,
      to: "ada@example.com, eve@example.com",
      subject: "a\r\nBcc: eve@example.com",
    });
    const texts = server.received.slice(before).map(({ text }) => text);
    for (const text of texts) expect(text).not.toMatch(/^Bcc:/m);
  });

  test("has no status when the server cannot be reached", async () => {
    const away = { ...config(), smtpUrl: "smtp://127.0.0.1:1" };
    expect(await sendMail(away, mail)).toMatchObject({ status: null });
  });
});

const settings = { MAIL_FROM: "rekindle@example.com", PUBLIC_URL: "https://rekindle.example.com" };

test.each([
  ["12#34", "12#34"],
  ["abc/def+g=", "abc/def+g="],
  ["p@ss@127.0.0.1", "p@ss@127.0.0.1"],
  ["a:b:", "a:b:"],
  ["a?b=c&d", "a?b=c&d"],
  ["100%", "100%"],
  ["%zz#%41", "%zz#%41"],
  ["[x]\\ 'ü🙂\"", "[x]\\ 'ü🙂\""],
  // What was encoded for an earlier version stays right.
  ["%2F%23%40%3A%25%2B", "/#@:%+"],
])("SMTP_URL with the password %s signs in with %s", async (written, password) => {
  const seen: unknown[] = [];
  const strict = await startMailServer({
    onAuth: ({ username, password: sent }, _, done) => {
      seen.push([username, sent]);
      done(null, { user: username });
    },
  });
  const read = readConfig({ ...settings, SMTP_URL: strict.url(`AKIA me:${written}@`) });
  expect(await sendMail(read.mail, mail)).toMatchObject({ status: 250 });
  await strict.stop();
  expect(seen).toEqual([["AKIA me", password]]);
});

test.each([
  "smtp://me:12#34",
  "smtps://",
  "smtp://me:x@host/path",
  "smtp://me:x@host#1",
  "http://host",
  "host",
])("SMTP_URL %s is refused, and its password is not repeated", (SMTP_URL) => {
  const read = () => readConfig({ ...settings, SMTP_URL });
  expect(read).toThrow("SMTP_URL is not usable: set it to the mail server's address");
  expect(read).not.toThrow("12#34");
});

test("a certificate of an own authority is trusted by NODE_EXTRA_CA_CERTS, and by nothing else", async () => {
  const folder = join(import.meta.dir, "..", "cluster", "certificate");
  const certFile = join(folder, "cert.pem");
  const own = await startMailServer({
    cert: readFileSync(certFile),
    key: readFileSync(join(folder, "key.pem")),
  });
  const program = `
    const { sendMail } = await import(${JSON.stringify(join(import.meta.dir, "../../server/sending/mail.ts"))});
    const config = { smtpUrl: ${JSON.stringify(own.url("me:right@").replace(/\?.*/, ""))}, from: "a@example.com" };
    process.stdout.write((await sendMail(config, ${JSON.stringify(mail)})).said);`;
  const said = async (env: Record<string, string>) =>
    (await run([process.execPath, "-e", program], { env: { ...process.env, ...env } })).stdout;
  expect(await said({})).toContain("certificate");
  expect(own.received).toEqual([]);
  expect(await said({ NODE_EXTRA_CA_CERTS: certFile })).toContain("250");
  expect(own.received).toMatchObject([{ isSecure: true, user: "me" }]);
  await own.stop();
});
