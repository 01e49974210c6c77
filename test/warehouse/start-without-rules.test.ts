/** Exclusion rules of one organization that cannot be applied keep no other from its figures. */

import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { systemTime } from "../../server/process/time.ts";
import { openAnalysis } from "../../server/warehouse/analysis.ts";

test("analysis starts, logs it once, says since when, and applies them when it can", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-rules-"));
  const ledger = await openSqliteLedger({ features, file: join(folder, "ledger.sqlite") });
  const [broken, other] = await Promise.all(
    ["broken", "other"].map((name) =>
      ledger.organizations.create({ name, timezone: "UTC", nowMs: 0 }, settingUp),
    ),
  );
  if (broken === undefined || other === undefined) throw new Error("there are no organizations");
  for (const { id } of [broken, other]) {
    await ledger.exclusions.add(id, { kind: "email_domain", key: "", value: "acme.com" }, settingUp, 0);
  }
  let isBroken = true;
  let attempts = 0;
  const exclusions = {
    revisions: () => ledger.exclusions.revisions(),
    list: (id: number) => ledger.exclusions.list(id),
    add: (...rule: Parameters<typeof ledger.exclusions.add>) => ledger.exclusions.add(...rule),
    remove: (...rule: Parameters<typeof ledger.exclusions.remove>) => ledger.exclusions.remove(...rule),
    rules: async (id: number) => {
      if (isBroken && id === broken.id) {
        attempts += 1;
        throw new Error("these rules are broken");
      }
      return ledger.exclusions.rules(id);
    },
  };
  const logged: string[] = [];
  const log = pino({ level: "warn" }, { write: (line: string) => void logged.push(line) });
  const shared = new Proxy(ledger, {
    get: (target, name) => (name === "exclusions" ? exclusions : Reflect.get(target, name, target)),
  });
  const analysis = await openAnalysis(folder, shared, log, systemTime);
  try {
    expect(analysis.exclusions.failing).toEqual([broken.id]);
    expect(analysis.exclusions.failingSinceMs(broken.id)).toBeGreaterThan(0);
    expect(analysis.exclusions.failingSinceMs(other.id)).toBeNull();
    await analysis.drain();
    expect(attempts).toBeGreaterThan(1);
    expect(logged.filter((line) => line.includes("these rules are broken"))).toHaveLength(1);
    isBroken = false;
    await analysis.drain();
    expect(analysis.exclusions.failing).toEqual([]);
  } finally {
    await analysis.close();
    await ledger.close();
    rmSync(folder, { recursive: true });
  }
});
