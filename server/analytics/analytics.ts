/** The module's interface: one question, one file. */

export { activeDays } from "./activity/active-days.ts";
export { activeUsers } from "./activity/active-users.ts";
export { adoption } from "./activity/adoption.ts";
export { churnEventSender } from "./activity/churn-event.ts";
export { firstActiveDay } from "./activity/first-day.ts";
export { lifecycle, lifecycleOfSevens } from "./activity/lifecycle.ts";
export { advisedHorizon, gapPercentile, usageIntervals } from "./activity/usage-intervals.ts";
export {
  type CalledEntity,
  type CallFactsRow,
  type CallPopulation,
  calledEntities,
  callFacts,
  lastContacts,
  payerCount,
  risksOfDays,
} from "./calls/call-facts.ts";
export {
  type Call,
  type CallGround,
  callOf,
  callReason,
  compareCalls,
  isWorseSince,
} from "./calls/ranking.ts";
export {
  type AccountListQuestion,
  type AccountListRow,
  accountCount,
  accountList,
  accountNumbers,
  accountSet,
  accountsNumbered,
  accountWithId,
} from "./entities/account-list.ts";
export {
  accountsOfUsers,
  bitmapText,
  boundBitmap,
  type EntitySet,
  numbersOfSet,
  type SetCondition,
  setOfNumbers,
  sizeOfSet,
} from "./entities/entity-sets.ts";
export { type EventsDone, eventSets } from "./entities/event-sets.ts";
export { isUserExcluded } from "./entities/excluded-user.ts";
export { matchesOfRules, previewOfRule } from "./entities/exclusion-matches.ts";
export { fallsOf } from "./entities/list-falls.ts";
export type { ComparedFall, ScoresOfRow } from "./entities/list-scores.ts";
export { membersOfAccounts } from "./entities/members-of-accounts.ts";
export { accountActivity, everyDay, userActivity } from "./entities/own-activity.ts";
export { accountEvents, userEvents } from "./entities/own-events.ts";
export { type Owner, type Owners, ownerIn, ownersOf } from "./entities/owners.ts";
export { subscriptionCount } from "./entities/subscription-count.ts";
export {
  type AccountTimelineEvent,
  accountTimeline,
  type TimelineEvent,
  type TimelinePosition,
  timeline,
} from "./entities/timeline.ts";
export type { TraitFilter } from "./entities/trait-filter.ts";
export { traitKeys } from "./entities/trait-keys.ts";
export { traitNames } from "./entities/trait-names.ts";
export {
  type UserListQuestion,
  type UserListRow,
  userCount,
  userList,
  userNumbers,
  userSet,
  usersNumbered,
} from "./entities/user-list.ts";
export { userSpan } from "./entities/user-span.ts";
export { withinPayerSet, withinSet } from "./entities/within-set.ts";
export { counts } from "./events/counts.ts";
export { eventNames } from "./events/event-names.ts";
export { eventsByValue } from "./events/events-by-value.ts";
export { eventsOverTime, withEmptyPeriods } from "./events/events-over-time.ts";
export { latestEvent } from "./events/latest-event.ts";
export { propertyNames } from "./events/property-names.ts";
export { usersOfEvents } from "./events/users-of-events.ts";
export { retention } from "./retention/retention.ts";
export { retentionComparison } from "./retention/retention-comparison.ts";
export {
  type RetentionCellQuestion,
  retentionNumbers,
  retentionPeople,
} from "./retention/retention-people.ts";
export type { Entry, RetentionQuestion } from "./retention/retention-question.ts";
export {
  type CancellationReason,
  cancellationReasons,
  churnReasonTimes,
} from "./revenue/churn-reasons.ts";
export { revenueQuestion, unconfirmedSubscriptions, unpricedSubscriptions } from "./revenue/currencies.ts";
export { type LastPaid, lastPaid } from "./revenue/last-paid.ts";
export { noticedSubscriptions } from "./revenue/noticed.ts";
export type { RevenueSplit } from "./revenue/payer-groups.ts";
export {
  hasPayers,
  mrrOfHighestTenth,
  mrrOfPayers,
  type PayersQuestion,
  payersNow,
  plansInUse,
} from "./revenue/payers-now.ts";
export { renewalDayOf } from "./revenue/renews-at.ts";
export { type PeriodRevenue, type RevenuePeriod, revenue } from "./revenue/revenue.ts";
export { mrrAtRisk } from "./revenue/revenue-at-risk.ts";
export { revenueCohorts } from "./revenue/revenue-cohorts.ts";
export type { RevenueQuestion } from "./revenue/steps.ts";
export {
  type PayerSubscriptions,
  type SubscriptionNow,
  subscriptionsOf,
} from "./revenue/subscriptions-of.ts";
export { unratedMrr } from "./revenue/unrated-mrr.ts";
export {
  type ChangePosition,
  segmentChangesOf,
  segmentDays,
  segmentEvaluated,
} from "./segments/members-history.ts";
export { type DaySets, isMember } from "./segments/past/day-sets.ts";
export { comparedDays, withoutHistory } from "./segments/past/history-of-filter.ts";
export { PastMembers } from "./segments/past/past-members.ts";
export type { UsersQuestion } from "./sql/sql.ts";
export { movementReason } from "./week/move-words.ts";
export type { Part } from "./week/sentence.ts";
export type { ScoresOfWeek } from "./week/week-scores.ts";
export { weekSummary } from "./week/week-summary.ts";
