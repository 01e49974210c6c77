/** Names from before version 1.0, in addresses that are bookmarked or saved. */
import { describe, expect, test } from "bun:test";
import { currentQuery } from "../../contract/older-addresses.ts";

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
