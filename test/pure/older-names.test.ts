/** Names from before version 1.0: in addresses that are bookmarked or saved, and in rows that are stored. */
import { describe, expect, test } from "bun:test";
import { warningKinds } from "../../contract/api/api.ts";
import { currentQuery } from "../../contract/older-addresses.ts";
import { sourceOutcomes } from "../../contract/sources.ts";
import {
  auditActionOf,
  storedOutcome,
  storedWarningKind,
  warningKindOf,
} from "../../server/ledger/ledger.ts";

describe("an older query of a page is translated", () => {
  test.each([
    ["colour=at_risk&sort=risk", "healthBand=at_risk&sort=risk"],
    ["band=high&columns=name%2Crisk", "riskBand=high&columns=name%2Crisk"],
    [
      "colourBefore=present&colour=churned&since=2026-11-01",
      "healthBandBefore=present&healthBand=churned&since=2026-11-01",
    ],
    ["lifecycle=resurrecting&activeFrom=2026-11-01", "lifecycle=resurrected&activeFrom=2026-11-01"],
    ["?tab=dead-letters", "tab=rejected-events"],
    ["tab=live&outcome=parked", "tab=live&outcome=held"],
    ["tab=warnings&kind=parked_full", "tab=warnings&kind=held_full"],
    ["colour=watch&healthBand=healthy", "healthBand=healthy"],
  ])("%s", (older, current) => {
    expect(currentQuery(older)).toBe(current);
    expect(currentQuery(current)).toBe(current);
  });

  test.each(["", "?traits=%5B%5D&search=a+b", "search=colour", "constructor=1&tab=live"])(
    "%s stays as it is",
    (query) => {
      expect(currentQuery(query)).toBe(query);
    },
  );
});

describe("stored names", () => {
  test("of warnings and outcomes are those of the first version, and are read back", () => {
    expect(warningKinds.map((kind) => warningKindOf(storedWarningKind(kind)))).toEqual([...warningKinds]);
    expect(warningKinds.map(storedWarningKind).filter((kind) => kind.startsWith("parked_"))).toHaveLength(3);
    expect(warningKinds.map(storedWarningKind).filter((kind) => kind.startsWith("held_"))).toEqual([]);
    expect(sourceOutcomes.map(storedOutcome)).toEqual([
      ...(["accepted", "parked", "duplicate", "rejected", "ignored"] as const),
    ]);
  });

  test("of the audit log are shown by the name of today", () => {
    expect(auditActionOf("dead_letters.retried")).toBe("rejected_events.retried");
    expect(auditActionOf("dead_letters.dropped")).toBe("rejected_events.dropped");
    expect(auditActionOf("rejected_events.dropped")).toBe("rejected_events.dropped");
    expect(auditActionOf("token.created")).toBe("token.created");
  });
});
