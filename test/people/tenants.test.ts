/** The audit log of an organization. No data of one organization is readable or writable from another. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { expectSuccess, user } from "../specification/support.ts";
import { auditLog, Browser, codeIn, company, joined, password } from "./support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start();
  await server.ready();
});
afterAll(() => server.stop());

describe("the audit log", () => {
  test("says who did what, and never a secret", async () => {
    const { name, owner, at, organization } = await company(server, "Audited");
    const newcomer = await joined(server, name, "viewer", "Audited newcomer");
    await owner.json("PATCH", at(`/api/members/${newcomer.id}`), { role: "member" });
    const invited = { email: "marker@example.com", role: "viewer" };
    const { id, link } = await owner.json<{ id: number; link: string }>(
      "POST",
      at("/api/invitations"),
      invited,
      201,
    );
    await owner.done("DELETE", at(`/api/invitations/${id}`));
    const { token } = await owner.json<{ token: string }>("POST", at("/api/tokens"), { name: "t" }, 201);
    const newPassword = "marker-of-a-password";
    await newcomer.json("PATCH", "/api/person", { newPassword, currentPassword: password });
    const reset = codeIn(await server.command("member", "reset-link", newcomer.email), "password");
    const last = "marker-of-another-one";
    await newcomer.json("POST", "/api/password", { code: reset, password: last }, 201);
    await server.command("settings", "set", "--organization", name, "--churn-horizon", "14");
    await server.command("exclude", "add", "--organization", name, "--user", "marker-user");
    await owner.done("DELETE", at(`/api/members/${newcomer.id}`));

    const log = await auditLog(owner);
    const told = log.map(({ action, person, detail }) => [action, person?.name ?? detail.by]);
    expect(told.slice(0, 13)).toEqual([
      ["member.removed", "Audited owner"],
      ["exclusion.added", "command line"],
      ["settings.changed", "command line"],
      ["member.password_reset", "Audited newcomer"],
      ["member.reset_link_created", "command line"],
      ["member.profile_changed", "Audited newcomer"],
      ["token.created", "Audited owner"],
      ["invitation.revoked", "Audited owner"],
      ["invitation.created", "Audited owner"],
      ["member.role_changed", "Audited owner"],
      ["member.joined", "Audited newcomer"],
      ["invitation.created", "command line"],
      ["member.joined", "Audited viewer"],
    ]);
    expect(log.find(({ action }) => action === "member.role_changed")?.detail).toMatchObject({
      from: "viewer",
      to: "member",
    });
    expect(log.find(({ action }) => action === "settings.changed")?.detail).toMatchObject({
      from: { churnHorizonDays: 28 },
      to: { churnHorizonDays: 14 },
    });
    const page = await owner.json<{ entries: { id: number }[] }>(
      "GET",
      `/api/audit-log?organization=${organization}&limit=2&before=${log[1]?.id}`,
    );
    expect(page.entries.map(({ id }) => id)).toEqual([log[2]?.id ?? 0, log[3]?.id ?? 0]);

    const secrets = [password, newPassword, last, reset, codeIn(link, "invitation"), token];
    const text = JSON.stringify(log) + server.output();
    for (const secret of [...secrets, "marker-user", owner.cookie ?? ""]) expect(text).not.toContain(secret);
  });
});

describe("nothing of another organization", () => {
  test("is seen or changed by any id: foreign and absent ones are answered alike", async () => {
    const ours = await company(server, "Ours");
    const theirs = await company(server, "Theirs");
    const token = await theirs.owner.json<{ id: number; token: string }>(
      "POST",
      theirs.at("/api/tokens"),
      { name: "theirs" },
      201,
    );
    const key = await theirs.owner.json<{ id: number }>(
      "POST",
      theirs.at("/api/read-keys"),
      { name: "theirs", rights: [] },
      201,
    );
    const invitation = await theirs.owner.json<{ id: number; link: string }>(
      "POST",
      theirs.at("/api/invitations"),
      { email: "t@example.com", role: "owner" },
      201,
    );
    const pairs: readonly (readonly [string, string, number, object?])[] = [
      ["DELETE", "/api/tokens/", token.id],
      ["DELETE", "/api/read-keys/", key.id],
      ["DELETE", "/api/invitations/", invitation.id],
      ["DELETE", "/api/members/", theirs.viewer.id],
      ["PATCH", "/api/members/", theirs.viewer.id, { role: "owner" }],
    ];
    for (const [method, path, id, body] of pairs) {
      const answers = [];
      for (const wanted of [String(id), "987654321", "0", "x", "-1", "1e3"]) {
        const response = await ours.owner.ask(method, ours.at(path + wanted), body);
        answers.push([response.status, await response.text()]);
      }
      expect([path, new Set(answers.map((answer) => JSON.stringify(answer))).size]).toEqual([path, 1]);
      expect(answers[0]?.[0]).toBe(404);
    }
    for (const path of ["/api/organization", "/api/members", "/api/audit-log", "/api/users"]) {
      const foreign = await ours.owner.ask("GET", theirs.at(path));
      const absent = await ours.owner.ask("GET", `${path}?organization=987654321`);
      expect([foreign.status, await foreign.text()]).toEqual([404, await absent.text()]);
    }
    await expectSuccess(await server.post("/identify", token.token, user("u")));
    const { members } = await theirs.owner.json<{ members: object[] }>("GET", theirs.at("/api/members"));
    expect(members).toHaveLength(3);
    await new Browser(server).json("POST", "/api/invitations/lookup", {
      code: codeIn(invitation.link, "invitation"),
    });
  });
});
