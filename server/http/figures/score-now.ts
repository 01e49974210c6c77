/** Handler of the JSON API that scores an organization at once. */
import type { Static } from "typebox";
import type { NoParameters } from "../../../contract/api/api.ts";
import type { ScoreNowAnswer } from "../../../contract/api/scores.ts";
import { errorMessages } from "../../../contract/errors.ts";
import { ApiError } from "../../../contract/refusal.ts";
import { formatDay } from "../../calendar/calendar.ts";
import { defaultRests } from "../../scoring/scoring.ts";
import type { ApiContext } from "../api/route.ts";
import { scoreContext } from "./score-context.ts";

/** Organizations that are being scored because they asked for it. */
const inHand = new Set<number>();
const whileScoringSeconds = 10;

/** POST /api/scores. @throws ApiError within the time for which scheduled runs of a day rest, too */
export async function scoreNow(
  context: ApiContext<typeof NoParameters, "">,
): Promise<Static<typeof ScoreNowAnswer>> {
  const { id } = context.organization;
  if (inHand.has(id))
    throw new ApiError("rate_limit_exceeded", errorMessages.scoredTooSoon, whileScoringSeconds);
  inHand.add(id);
  try {
    await untilRested(context);
    const { day, kinds, stoppedSince, silence } = await context.scoring.score(
      { organization: id },
      () => undefined,
    );
    const scored = (which: "user" | "account") => kinds.find(({ kind }) => kind === which)?.entities ?? 0;
    return {
      ...{ day: formatDay(day), users: scored("user"), accounts: scored("account") },
      stoppedSince: stoppedSince === null ? null : formatDay(stoppedSince),
      silentSource: silence?.source ?? null,
    };
  } finally {
    inHand.delete(id);
  }
}

async function untilRested(context: ApiContext<typeof NoParameters, "">): Promise<void> {
  const { run } = await scoreContext(context, "user");
  const { beforeTodayMs } = defaultRests;
  const restMs = run === undefined ? 0 : run.body.finishedAtMs + beforeTodayMs - context.nowMs();
  if (run?.day === context.zone.dayOf(context.nowMs()) && restMs > 0)
    throw new ApiError("rate_limit_exceeded", errorMessages.scoredTooSoon, Math.ceil(restMs / 1_000));
}
