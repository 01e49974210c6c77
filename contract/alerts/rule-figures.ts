/** How alert rules perform: alerts by week, and how many alerts were followed by churn within the churn
 * horizon. */
import Type from "typebox";
import { Field, listOf, nullable, objectOrNull } from "../api/schema.ts";

const outcomes = (description: string) =>
  Type.Object(
    {
      mature: Field.count(
        "Alerts whose churn horizon is over and had no outage. At most one alert per user (or account) and churn horizon is counted, of the newest 2,000 alerts of the last 90 days.",
      ),
      churned: Field.count("Mature alerts whose user or account had churned at the end of the horizon."),
      rate: nullable(Field.share("churned ÷ mature. Null without a mature alert.")),
      interval: objectOrNull("95 % interval (Wilson). Null without a rate.", {
        low: Type.Number(),
        high: Type.Number(),
      }),
      medianLeadDays: nullable(
        Field.number(
          "Median days from the alert to the first scored day after churn. Null if no alert was followed by churn.",
        ),
      ),
    },
    { description },
  );

const arm = (description: string) =>
  Type.Object(
    {
      entries: Field.count("Customers that entered the experiment. An account counts once."),
      mature: Field.count("Entries whose outcome is known."),
      left: Field.count("Entries that left."),
    },
    { description },
  );

const followUpArm = (description: string) =>
  Type.Object(
    {
      entries: Field.count("Customers that entered at least `days` days ago, and whose MRR is known."),
      paying: Field.count("Customers that pay `days` days after the entry."),
      mrrAtEntry: Field.money("The MRR at the start of the day of the entry."),
      mrrKept: Field.money("The MRR `days` days later, after recurring discounts."),
    },
    { description },
  );

/** What a control group shows. */
export const HoldOutResultFields = {
  primary: Field.oneOf(
    ["churned", "unpaid"],
    "What counts as left, fixed when the experiment began. churned: churned within the churn horizon. unpaid: paid for no further period, which is known 7 days after the period that was running at the entry.",
  ),
  base: Field.share("The share of controls expected to leave, when the experiment was planned."),
  planned: Field.integer(
    "Entries of both groups needed to see that 30 % of those who would leave are saved, with 80 % power. The result at this number is final.",
  ),
  arms: Type.Object({
    treated: arm("The customers who got messages and steps."),
    control: arm("The control group."),
  }),
  verdict: Field.oneOf(
    ["few", "open", "keeps", "harms"],
    "few: in a group fewer than 5 left, or fewer than 5 stayed. open: no difference can be seen. keeps: fewer of the treated left than of the controls. harms: more of the treated left.",
  ),
  isFinal: Field.boolean("Whether the outcomes of all planned entries are known."),
  kept: Type.Object(
    { low: Field.number("Lower end."), high: Field.number("Upper end.") },
    {
      description:
        "The share of customers kept by the rule: the share of controls that left minus that of the treated, as an interval (Newcombe). 95 % when final; wider before, so that it can be read every day.",
    },
  ),
  contaminated: Field.count("Controls that had a contact, or an alert of another rule, within the horizon."),
  isRatioOff: Field.boolean(
    "Whether the sizes of the groups differ too much from the drawn share. Then no result can be trusted.",
  ),
  monthsLeft: nullable(Field.number("Months until all planned customers have entered, at the pace so far.")),
  sentence: Field.text("The result in a sentence."),
};

export const RuleFiguresAnswer = Type.Object({
  horizonDays: Field.integer("The churn horizon."),
  rules: listOf("By name.", {
    id: Field.integer("The rule's id."),
    name: Field.text("The rule's name."),
    fired: Field.count("Alerts since the day `since`, including alerts of the control group."),
    since: Field.day("The first day that is counted: 90 days ago, or the first day of a newer rule."),
    perWeek: nullable(Field.number("Alerts a week since `since`. Null until a whole week is over.")),
    weeks: listOf("Weeks from Monday, of the last 90 days. The first and the last week may be incomplete.", {
      monday: Field.day("The first day of the week."),
      fired: Field.count("Alerts of the week, including alerts of the control group."),
    }),
    untouched: outcomes(
      "Alerts without a contact, a task or the verdict `handled` within their churn horizon. Their rate is the precision of the rule.",
    ),
    touched: outcomes(
      "Alerts with a contact, a task or the verdict `handled`. They do not count in the precision, because customers who were saved would lower it.",
    ),
    baseRate: Type.Object(
      {
        count: Field.count("Users or accounts that could churn, counted on each Monday of the period."),
        churned: Field.count("Mature alerts whose user or account had churned at the end of the horizon."),
        rate: nullable(Field.share("churned ÷ count. Null if count is 0.")),
      },
      { description: "How many of all users or accounts churned, with or without an alert." },
    ),
    holdOut: objectOrNull("The current experiment. Null without a control group.", {
      share: nullable(Field.share("The share of the control group.")),
      horizonDays: nullable(
        Field.integer("The churn horizon of the experiment, in days. Null before the first alert."),
      ),
      since: Field.day(
        "The day on which the experiment began. A change of condition, scope, share or churn horizon begins a new experiment.",
      ),
      treated: Field.count("Users or accounts whose alerts are sent. An account counts once."),
      controls: Field.count("Users or accounts in the control group: their alerts are not sent."),
      result: objectOrNull(
        "What the control group shows so far. Null before the first entry.",
        HoldOutResultFields,
      ),
      followUp: objectOrNull(
        "What is left of the MRR, without a verdict. Null before a paying customer has been in the experiment for `days`.",
        {
          days: Field.integer("Twice the churn horizon: the days from the entry."),
          currency: Field.text("The currency of the amounts."),
          arms: Type.Object({
            treated: followUpArm("The customers who got messages and steps."),
            control: followUpArm("The control group."),
          }),
        },
      ),
    }),
  }),
});
