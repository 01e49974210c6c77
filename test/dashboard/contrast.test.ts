/** Colours: every pair that pages set as text or as a mark has the contrast that WCAG 2.2 AA asks for. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const tokens = readFileSync(join(import.meta.dir, "..", "..", "dashboard", "tokens.css"), "utf8");
const colours = new Map(
  [...tokens.matchAll(/--(?:color-)?([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)].map(
    ([, name = "", light = "", dark = ""]) => [name, { light, dark }],
  ),
);

/** The relative luminance of a colour, by WCAG 2.2. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** Pairs below a ratio, as sentences. */
function tooClose(pairs: readonly (readonly [string, string])[], ratio: number): string[] {
  return pairs.flatMap(([front, back]) =>
    (["light", "dark"] as const).flatMap((theme) => {
      const [one, other] = [colours.get(front)?.[theme], colours.get(back)?.[theme]];
      if (one === undefined || other === undefined) return [`${front} or ${back} is no colour`];
      const found = contrast(one, other);
      return found >= ratio
        ? []
        : [`${front} on ${back}, ${theme}: ${found.toFixed(2)}, ${ratio} is asked for`];
    }),
  );
}

const grounds = ["ground", "sunk", "surface", "raised"];
const states = ["healthy", "watch", "at-risk", "onboarding", "churned"];
const on = (fronts: readonly string[], backs: readonly string[]) =>
  fronts.flatMap((front) => backs.map((back) => [front, back] as const));

describe("contrast", () => {
  test("is computed as WCAG computes it", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5);
    expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
    expect(tooClose([["line", "surface"]], 4.5)).not.toEqual([]);
  });

  test("of text is 4.5 on every ground", () => {
    expect(tooClose(on(["ink", "soft", "ember", ...states], grounds), 4.5)).toEqual([]);
  });

  test("of text on a state's own wash, on buttons and on heat is 4.5", () => {
    const washes = states.flatMap(
      (state) =>
        [
          [state, `${state}-wash`],
          ["ink", `${state}-wash`],
        ] as const,
    );
    const low = [0, 1, 2, 3, 4].map((step) => ["heat-low-ink", `heat-${step}`] as const);
    const high = [5, 6].map((step) => ["heat-high-ink", `heat-${step}`] as const);
    const buttons = [
      ["inverse", "ink"],
      ["inverse", "at-risk"],
      ["ember", "ember-wash"],
      ["ink", "ember-wash"],
    ] as const;
    expect(tooClose([...washes, ...low, ...high, ...buttons], 4.5)).toEqual([]);
  });

  test("of edges of fields, of focus and of series is 3", () => {
    const series = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `series-${number}`);
    expect(tooClose([...on(["edge", "ember"], grounds), ...on(series, ["surface"])], 3)).toEqual([]);
  });
});
