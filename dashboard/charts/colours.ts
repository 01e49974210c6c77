/** The colours of the pages as values, for what is drawn and not styled. */

const names = [
  "ink",
  "soft",
  "line",
  "edge",
  "ember",
  "churned",
  "healthy-fill",
  "watch-fill",
  "at-risk-fill",
  "onboarding-fill",
  "series-1",
  "series-2",
  "series-3",
  "series-4",
  "series-5",
  "series-6",
  "series-7",
  "series-8",
] as const;

/** Colours by their name, as rgb(), in the theme that is shown. */
export type Colours = Readonly<Record<(typeof names)[number], string>> & {
  /** In the order in which series take them. */
  readonly series: readonly string[];
};

/** Reads the colours by letting the browser compute them: a custom property itself is only text. */
export function readColours(): Colours {
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);
  const entries = names.map((name) => {
    probe.style.color = `var(--color-${name})`;
    return [name, getComputedStyle(probe).color] as const;
  });
  probe.remove();
  const colours = Object.fromEntries(entries) as Record<(typeof names)[number], string>;
  return {
    ...colours,
    series: names.filter((name) => name.startsWith("series")).map((name) => colours[name]),
  };
}
