/** The condition under which the command line sends a test message. */
import { expect, test } from "bun:test";
import { refuseWithoutSender } from "../../cli/commands/destination.ts";

test("a test message needs a service, and in a cluster an intake node", () => {
  const node = (...roles: ("intake" | "analysis" | "command")[]) => ({
    live: roles.map((role) => ({ role, id: "1", url: null, watches: [], leaderStatus: null })),
  });
  expect(() => refuseWithoutSender({ served: false })).toThrow("the service does not run");
  expect(() => refuseWithoutSender({ served: true })).not.toThrow();
  expect(() => refuseWithoutSender({ served: false, node: node("command", "analysis") })).toThrow(
    "no intake node runs",
  );
  expect(() => refuseWithoutSender({ served: false, node: node("command", "intake") })).not.toThrow();
});
