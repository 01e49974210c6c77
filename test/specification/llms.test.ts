/** GET /llms.txt: what a coding assistant reads works as it stands. */
import { expect, test } from "bun:test";
import { Server } from "../server.ts";

const server = await Server.shared();
/** Addresses in the text are those of PUBLIC_URL, which is no address of a server of tests. */
const pathOf = (address: string) => new URL(address).pathname;

test("the requests that it shows are accepted, in their order, and the figures show the account", async () => {
  const response = await fetch(`${server.url}/llms.txt`);
  expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
  const text = await response.text();
  const token = await server.organization("Assistants");
  const requests = [...text.matchAll(/```\nPOST (\S+)\n[^{]*(\{[^`]*)```/g)];
  expect(requests.map(([, address = ""]) => pathOf(address))).toEqual(["/identify", "/track"]);
  for (const [, address = "", body = ""] of requests) {
    const answer = await server.post(pathOf(address), token, JSON.parse(body));
    expect([await answer.json(), answer.status]).toEqual([{ success: true }, 201]);
  }
  const accounts = await server.exported("accounts", "Assistants");
  expect(JSON.stringify(accounts)).toContain("Acme");
});

test("every address that it names answers", async () => {
  const text = await (await fetch(`${server.url}/llms.txt`)).text();
  const links = [...text.matchAll(/\]\((\S+)\)/g)].map(([, link = ""]) => link);
  expect(links.length).toBeGreaterThan(1);
  const statuses = await Promise.all(
    links.map(async (link) => (await fetch(server.url + pathOf(link))).status),
  );
  expect(statuses).toEqual(links.map(() => 200));
});
