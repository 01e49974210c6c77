/** The methods of the ledger about alert rules and alerts, with their kinds. */
import { commandLine as by } from "../../server/ledger/audit.ts";
import { alertRule, decision } from "./alert-decision.ts";
import { type Kinds, read, service } from "./change-kinds.ts";
import { changesOf, rowStores } from "./rows-of-stores.ts";
import { user, writePeople } from "./writes.ts";

/** Those of rules. */
export const alertRules: Kinds["alertRules"] = {
  list: read,
  find: read,
  experiments: read,
  ...changesOf(rowStores["alert rules"]),
};

/** Those of alerts. */
export const alerts: Kinds["alerts"] = {
  list: read,
  weights: read,
  withIds: read,
  ofEntity: read,
  workedOn: read,
  verdicts: read,
  openBetween: read,
  all: read,
  fired: read,
  firedByDay: read,
  controls: read,
  change: async (ground) => {
    const { ledger, id: organization, nowMs } = ground;
    await writePeople(ledger, { users: [user(organization, "ada")] });
    const { id: rule } = await ledger.alertRules.add(organization, alertRule, by, nowMs);
    const entity = { kind: "user", number: 1 } as const;
    await ledger.ruleDecisions.commitDecision(decision({ organization, rule, entity, day: 20_000 }), nowMs);
    const question = { state: "all", today: 20_000, limit: 1, offset: 0 } as const;
    const [alert] = (await ledger.alerts.list(organization, question)).alerts;
    return {
      action: "alert.changed",
      of: (of) => ledger.alerts.change(of, alert?.id ?? 0, { verdict: "handled" }, by, 20_000, nowMs),
    };
  },
  setCallAside: async ({ ledger, id: organization, nowMs }) => {
    await writePeople(ledger, { users: [user(organization, "ada")] });
    const ada = { kind: "user", id: "ada" } as const;
    return {
      action: "call.set_aside",
      of: (of) => ledger.alerts.setCallAside(of, ada, { snoozedUntil: 20_005 }, by, nowMs),
    };
  },
};

/** Decisions are the service's own. */
export const ruleDecisions: Kinds["ruleDecisions"] = {
  deciding: read,
  toDecide: read,
  states: read,
  knownArms: read,
  named: read,
  sentOn: read,
  inMessages: read,
  openMoments: read,
  toldOpen: read,
  unsent: read,
  insideBySettings: read,
  holdOut: service,
  commitDecision: service,
};
