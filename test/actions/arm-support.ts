/** The parts that tests of arms by request share: a company whose server asks before its cancel page. */
import { expect } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import type { ArmAnswer } from "../../contract/arm.ts";
import { quietZone } from "../far-from-midnight.ts";
import { company } from "../people/support.ts";
import type { Server } from "../server.ts";
import { until } from "../until.ts";

/** Half of those who open the cancel flow are held back. */
export const cancelFlow = {
  name: "Cancel flow opened",
  scope: { kind: "users" },
  condition: { kind: "event", event: "cancel_flow_opened" },
  holdOutShare: 0.5,
  exemptions: { mrrAbove: 100_000 },
};

export class Offers {
  readonly #server: Server;
  readonly ours: Awaited<ReturnType<typeof company>>;
  /** A project token of the scope `arm`. */
  readonly armToken: string;
  /** The id of the rule that `begin` made last. */
  rule = 0;

  private constructor(server: Server, ours: Awaited<ReturnType<typeof company>>, armToken: string) {
    this.#server = server;
    this.ours = ours;
    this.armToken = armToken;
  }

  static async found(server: Server, name: string): Promise<Offers> {
    const ours = await company(server, name, "--timezone", quietZone);
    const wanted = { name: "Cancel flow", scope: "arm" };
    const { token } = await ours.owner.json<{ token: string }>("POST", ours.at("/api/tokens"), wanted, 201);
    return new Offers(server, ours, token);
  }

  /** Makes the rule, and waits until users may enter. @param first enters */
  async begin(first: string): Promise<void> {
    const { owner, at } = this.ours;
    this.rule = (await owner.json<{ id: number }>("POST", at("/api/alert-rules"), cancelFlow, 201)).id;
    await this.untilListed(first);
  }

  /** Waits until who may enter is listed after a change of the rule. @param next enters */
  untilListed(next: string): Promise<unknown> {
    return until("who may enter is listed", async () => (await this.arm(next)).counted);
  }

  ask(body: object, token = this.armToken): Promise<Response> {
    return this.#server.post("/arm", token, body);
  }

  async arm(userId: string): Promise<ArmAnswer> {
    const response = await this.ask({ rule: this.rule, userId });
    const text = await response.text();
    expect([response.status, text]).toEqual([200, text]);
    return JSON.parse(text) as ArmAnswer;
  }

  async identified(...userIds: readonly string[]): Promise<void> {
    const batch = userIds.map((userId) => ({ type: "identify", userId, email: `${userId}@example.com` }));
    const response = await this.#server.post("/batch", this.ours.token, { batch });
    expect(await response.json()).toMatchObject({ rejected: [] });
  }

  /** Sends the event, which is one however often it is sent. */
  async opened(userId: string): Promise<void> {
    const body = { userId, event: "cancel_flow_opened", messageId: `opened by ${userId}` };
    expect((await this.#server.post("/track", this.ours.token, body)).status).toBe(201);
  }

  /** What the figures of the rule say of its control group. */
  async holdOut() {
    const { owner, at } = this.ours;
    type Figures = RouteAnswer<"GET /api/alert-rules/figures">;
    const { rules } = await owner.json<Figures>("GET", at("/api/alert-rules/figures"));
    return rules.find(({ id }) => id === this.rule)?.holdOut;
  }

  /** The users of whom the rule has an alert, without controls whose horizon is not over: they are in no
   * list. */
  async alerted(): Promise<readonly string[]> {
    const { owner, at } = this.ours;
    const path = `${at("/api/alerts")}&rule=${this.rule}&state=all&limit=200`;
    const { alerts } = await owner.json<RouteAnswer<"GET /api/alerts">>("GET", path);
    return alerts.map(({ entityId }) => entityId).toSorted();
  }
}
