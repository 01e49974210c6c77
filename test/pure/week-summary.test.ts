/** The week in sentences: every word follows from the figures. */
import { describe, expect, test } from "bun:test";
import { type WeekFigures, type WeekOfUsers, weekSummary } from "../../server/analytics/week-summary.ts";
import { parseDay } from "../../server/calendar/days.ts";

const toDay = parseDay("2026-03-31") ?? 0;

/** 27 weeks, the newest last, of so many active users each. */
function weeksOf(active: readonly number[]): WeekOfUsers[] {
  return [...Array.from({ length: 27 - active.length }, () => 0), ...active].map((users) => ({
    active: users,
    new: Math.min(users, 5),
    resurrected: Math.min(users, 2),
    dormant: Math.min(users, 4),
  }));
}

const steady = Array.from({ length: 20 }, (_, index) => 100 + (index % 3));

type Scores = NonNullable<WeekFigures["scores"]>;

const healthOn = (weeksAgo: number, atRisk: number) => ({
  day: toDay + 1 - 7 * weeksAgo,
  healthy: 50,
  watch: 30,
  atRisk,
  onboarding: 10,
  inactive: 0,
  withRisk: 90 + atRisk,
  expectedChurn: 12.4,
});

const scores: Scores = {
  sinceDay: toDay - 6,
  horizonDays: 28,
  baseRate: 0.1,
  isProven: true,
  hasModel: true,
  lacksData: false,
  health: Array.from({ length: 12 }, (_, index) => healthOn(11 - index, 10 + (index % 2))),
  movement: [
    { from: "healthy", to: "watch", count: 3, byRules: 0 },
    { from: "watch", to: "at_risk", count: 2, byRules: 0 },
    { from: "at_risk", to: "healthy", count: 4, byRules: 0 },
    { from: "watch", to: "churned", count: 1, byRules: 0 },
    { from: "onboarding", to: "churned", count: 1, byRules: 0 },
    { from: "churned", to: "watch", count: 1, byRules: 0 },
    { from: "onboarding", to: "healthy", count: 9, byRules: 0 },
    { from: null, to: "onboarding", count: 7, byRules: 0 },
    { from: "watch", to: "watch", count: 30, byRules: 0 },
  ],
  call: {
    hasAccounts: true,
    first: [
      { kind: "account", id: "a1", label: "Acme", reason: "Use fell 69%, 1 of 4 members stopped" },
      { kind: "account", id: "b1", label: "", reason: "Payment failed on 3 Nov" },
    ],
  },
};

const figures: WeekFigures = {
  toDay,
  weeks: weeksOf(steady),
  stoppedSince: null,
  firstDay: null,
  scores,
  isOfSegment: false,
};

const said = (changes: Partial<WeekFigures>) => weekSummary({ ...figures, ...changes });
const about = (name: string, changes: Partial<WeekFigures>) =>
  said(changes).find((sentence) => sentence.about === name);
const withScores = (changes: Partial<Scores>) => ({ scores: { ...scores, ...changes } });

describe("activity", () => {
  test("is compared with the week before, and judged", () => {
    expect(about("active", { weeks: weeksOf([...steady, 101]) })).toMatchObject({
      text: "101 users were active in the 7 days to 2026-03-31, as many as the week before. Normal.",
      tone: "neutral",
      isUnusual: false,
    });
    expect(about("active", { weeks: weeksOf([...steady, 131]) })).toMatchObject({
      text: "131 users were active in the 7 days to 2026-03-31, 30 more than the week before (+29.7%). Above normal.",
      tone: "good",
      isUnusual: true,
    });
    expect(about("active", { weeks: weeksOf([...steady, 81]) })).toMatchObject({
      tone: "bad",
      isUnusual: true,
    });
  });

  test("of a quiet week is told against the usual, unless data has stopped", () => {
    const season = [...steady, 48, 46, 45];
    const sentences = said({ weeks: weeksOf(season) }).filter((each) => each.about === "active");
    expect(sentences[1]).toMatchObject({
      text: "Activity is 55.4% below usual: 101 users were active in the median of earlier weeks. Data keeps arriving, so scores go on.",
      tone: "bad",
    });
    expect(said({ weeks: weeksOf(steady) }).filter((each) => each.about === "active")).toHaveLength(1);
    const stopped = said({ weeks: weeksOf(season), stoppedSince: toDay });
    expect(stopped.filter((each) => each.about === "active")).toHaveLength(1);
  });

  test("is judged in a quiet week, too, and in the week after it", () => {
    expect(about("active", { weeks: weeksOf([...steady, 3]) })).toMatchObject({
      tone: "bad",
      isUnusual: true,
    });
    const after = about("active", { weeks: weeksOf([...steady, 3, 100]) });
    expect(after).toMatchObject({ tone: "good", isUnusual: true });
  });

  test("of few weeks is not judged", () => {
    expect(about("active", { weeks: weeksOf([50, 60, 1]) })?.text).toBe(
      "1 user was active in the 7 days to 2026-03-31, 59 fewer than the week before (-98.3%). Too few weeks to compare.",
    );
  });

  test("of a first week is compared with nothing: the week in which the data begins is cut off", () => {
    for (const active of [[7], [3, 7]]) {
      const sentences = said({ weeks: weeksOf(active) });
      expect(sentences[0]?.text).toBe(
        "7 users were active in the 7 days to 2026-03-31. Nothing to compare yet: the data does not cover the week before.",
      );
      expect(sentences.some((sentence) => sentence.about === "lifecycle")).toBe(false);
    }
  });

  test("of a quiet week does not make the others look steady or wild", () => {
    const outage = [...steady.slice(0, 10), 3, ...steady.slice(11)];
    const range = (weeks: WeekOfUsers[]) => about("active", { weeks })?.usual;
    expect(range(weeksOf(outage))?.high).toBeLessThan(5);
    expect(range(weeksOf(outage))?.weeks).toBe((range(weeksOf(steady))?.weeks ?? 0) - 2);
  });

  test("that began today, never was or was long ago is said so", () => {
    const silent = (firstDay: number | null) =>
      said({ weeks: weeksOf([]), scores: null, firstDay }).map(({ text }) => text);
    expect(silent(toDay + 1)).toEqual([
      "Your first events came today. The first week's summary is here on Monday.",
    ]);
    // 2026-03-31 was a Tuesday.
    const monday = said({ toDay: toDay - 2, weeks: weeksOf([]), scores: null, firstDay: toDay - 1 });
    expect(monday[0]?.text).toEndWith("The first week's summary is here next Monday.");
    expect(silent(null)).toEqual(["No events yet."]);
    expect(silent(toDay - 200)).toEqual(["No user was active in the 27 weeks to yesterday."]);
  });

  test("of a segment is compared with the week before if the organization has data of it", () => {
    const ofSegment = (active: readonly number[], daysOfData: number) =>
      said({ weeks: weeksOf(active), firstDay: toDay - daysOfData, isOfSegment: true })[0]?.text;
    const compared = "Too few weeks to compare.";
    expect(ofSegment([7], 100)).toBe(
      `7 users were active in the 7 days to 2026-03-31, 7 more than the week before. ${compared}`,
    );
    expect(ofSegment([3, 7], 100)).toBe(
      `7 users were active in the 7 days to 2026-03-31, 4 more than the week before (+133.3%). ${compared}`,
    );
    // The data begins in the week before, which is cut off.
    expect(ofSegment([3, 7], 9)).toEndWith("the data does not cover the week before.");
    expect(ofSegment([], 100)).toBe("No user of the segment was active in the 27 weeks to yesterday.");
  });

  test("and those who came and went have the lists of those who are counted", () => {
    const days = { activeFrom: "2026-03-25", activeTo: "2026-03-31" };
    const lists = (name: string) =>
      about(name, {})?.parts.flatMap(({ list, value }) => (list === undefined ? [] : [[value, list.query]]));
    expect(lists("active")).toEqual([[101, days]]);
    expect(lists("lifecycle")).toEqual([
      [5, { ...days, lifecycle: "new" }],
      [2, { ...days, lifecycle: "resurrected" }],
      [4, { ...days, lifecycle: "dormant" }],
    ]);
  });
});

test("new, resurrected and dormant users are compared with the week before", () => {
  expect(about("lifecycle", {})?.text).toBe("5 new, 2 back after a week or more, 4 stopped. All normal.");
  const weeks = weeksOf(steady);
  const last = weeks.pop();
  const away = last === undefined ? weeks : [...weeks, { ...last, dormant: 40 }];
  expect(about("lifecycle", { weeks: away })).toMatchObject({ tone: "bad", isUnusual: true });
  expect(about("lifecycle", { weeks: away })?.text).toEndWith(
    "40 stopped, 36 more than the week before. Above normal.",
  );
});

describe("health", () => {
  test("is told with what moved: onboarding is neither better nor worse, and churned is told apart", () => {
    expect(about("health", {})?.text).toBe(
      "11 of 101 users at risk, 1 more than a week ago. Normal. Since 2026-03-25: 5 worse, 4 better, 2 churned, 1 returned.",
    );
  });

  test("leaves out what another model moved: as if it had been in use a week ago", () => {
    const byModel = [
      ...scores.movement,
      { from: "watch", to: "at_risk", count: 39, byRules: 39 },
      { from: "at_risk", to: "healthy", count: 7, byRules: 4 },
    ];
    const health = [...scores.health.slice(0, -1), healthOn(0, 11 + 39 - 4)];
    const sentence = about("health", withScores({ health, movement: byModel }));
    expect(sentence).toMatchObject({
      text: "46 of 136 users at risk, 1 more than a week ago. Normal. Since 2026-03-25: 5 worse, 7 better, 2 churned, 1 returned.",
      tone: "neutral",
      isUnusual: false,
    });
  });

  test("that falls beyond the usual is bad news", () => {
    const health = [...scores.health.slice(0, -1), healthOn(0, 40)];
    expect(about("health", withScores({ health }))).toMatchObject({ tone: "bad", isUnusual: true });
  });

  test("without scores of a week ago is compared with nothing", () => {
    const health = [healthOn(3, 9), healthOn(0, 1)];
    expect(about("health", withScores({ health, sinceDay: null }))?.text).toBe(
      "1 of 91 users at risk. No scores of a week ago.",
    );
  });

  test("of mostly new users says that these cannot be judged", () => {
    const health = [{ ...healthOn(0, 0), healthy: 1, watch: 1, onboarding: 48 }];
    expect(about("health", withScores({ health, sinceDay: null }))?.text).toBe(
      "0 of 50 users at risk, 48 too new to judge. No scores of a week ago.",
    );
  });

  test("before the first scores is left out, and no user is named", () => {
    expect(said({ scores: null }).map((sentence) => sentence.about)).toEqual([
      "active",
      "lifecycle",
      "health",
    ]);
    expect(about("health", { scores: null })?.text).toContain("There are no scores yet");
  });
});

test("with a declared churn target, those that are only inactive are told beside the churned", () => {
  const health = (inactive: number) => [
    { ...healthOn(1, 10), inactive: 9 },
    { ...healthOn(0, 11), inactive },
  ];
  expect(about("health", withScores({ health: health(31) }))?.text).toEndWith(
    "2 churned, 1 returned. 31 users silent for 28 days and not churned.",
  );
  expect(about("health", withScores({ health: health(1) }))?.text).toEndWith(
    " 1 user silent for 28 days and not churned.",
  );
  expect(about("health", withScores({ health: health(0) }))?.text).toEndWith("1 returned.");
});

describe("churn risk", () => {
  test("is told beside the base rate", () => {
    expect(about("risk", {})?.text).toBe(
      "About 12 of 101 users (12.3%) will leave in the next 28 days. Usual: 10%.",
    );
  });

  test("of one user is told in the singular", () => {
    const health = [
      { ...healthOn(0, 1), healthy: 0, watch: 0, onboarding: 0, withRisk: 1, expectedChurn: 0.2 },
    ];
    expect(about("risk", withScores({ health }))?.text).toBe(
      "Fewer than one of 1 user (20%) will leave in the next 28 days. Usual: 10%.",
    );
    expect(about("health", withScores({ health }))?.text).toStartWith("1 of 1 user at risk. No scores");
  });

  test("that is not proven is called so, and without a back-test there is no base rate", () => {
    expect(about("risk", withScores({ isProven: false, baseRate: null }))?.text).toEndWith(
      "in the next 28 days. The model is not proven on your data.",
    );
  });

  test("that no model can tell is not told", () => {
    const health = scores.health.map((each) => ({ ...each, withRisk: 0, expectedChurn: null }));
    expect(about("risk", withScores({ health, hasModel: false }))?.text).toStartWith(
      "No churn risk is shown",
    );
    expect(about("risk", withScores({ health, hasModel: false, lacksData: true }))?.text).toBe(
      "Too little data for a churn risk: users are ordered by activity.",
    );
  });
});

describe("whom to call", () => {
  test("is told in the order of the call list, the first with why", () => {
    expect(about("call", {})).toMatchObject({
      tone: "bad",
      text: "Call Acme first: Use fell 69%, 1 of 4 members stopped. Then b1.",
    });
  });

  test("is nobody when the call list is empty", () => {
    const call = { hasAccounts: true, first: [] };
    expect(about("call", withScores({ call }))).toMatchObject({
      tone: "good",
      text: "No account and no user has a high churn risk or a sharp fall in health.",
    });
    expect(about("call", withScores({ call: { ...call, hasAccounts: false } }))?.text).toStartWith(
      "No user has a high",
    );
  });

  test("may be one user", () => {
    const [first] = scores.call.first;
    const call = {
      hasAccounts: false,
      first: first === undefined ? [] : [{ ...first, kind: "user" as const }],
    };
    const parts = about("call", withScores({ call }))?.parts;
    expect(parts?.map(({ form }) => form)).toEqual(["words", "user", "words"]);
  });
});

test("a young company is told who has not come, and not that nobody has a high risk", () => {
  const call = { ...scores.call, kind: "user", total: 0, first: [] } as const;
  const text = (changes: Partial<Scores>, dormant = 11) => {
    const weeks = weeksOf([...steady.slice(1), 30]).map((week) => ({ ...week, dormant }));
    return about("call", { weeks, ...withScores({ call, ...changes }) });
  };
  expect(text({ hasModel: false })).toMatchObject({
    tone: "neutral",
    text: "11 users have not come this week.",
  });
  expect(text({ sinceDay: null }, 1)?.text).toBe("1 user has not come this week.");
  expect(text({ hasModel: false })?.parts[0]?.list?.query).toMatchObject({ lifecycle: "dormant" });
  expect(text({})?.text).toStartWith("No account and no user has a high churn risk");
});

test("a segment of users has no accounts to call, and users without scores have no health", () => {
  const none = { hasAccounts: false, first: [] };
  const sentences = said({ ...withScores({ health: [], call: none }), isOfSegment: true });
  expect(sentences.slice(-2).map(({ text }) => text)).toEqual([
    "No user of the segment has scores.",
    "No user has a high churn risk or a sharp fall in health.",
  ]);
});

test("data that has stopped comes first", () => {
  const [first] = said({ stoppedSince: toDay - 2 });
  expect(first).toMatchObject({ about: "data", tone: "bad" });
  expect(first?.text).toStartWith("No data since 2026-03-29: ");
});

test("the parts of a sentence are its text, and values stand in parts of their own", () => {
  for (const { parts, text } of said({})) {
    expect(parts.map((part) => part.text).join("")).toBe(text);
    expect(parts.filter((part) => part.form === "words" && part.value !== null)).toEqual([]);
  }
  const account = about("call", {})?.parts.find(({ form }) => form === "account");
  expect(account).toEqual({ form: "account", text: "Acme", value: "a1" });
});
