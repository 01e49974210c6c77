/** The routes about the digest. Analysis reads its content, and intake keeps which team members get it. */
import { analysisRoute, intakeRoute } from "../api/route.ts";
import { DigestAnswer, DigestParameters, OwnDigestAnswer, OwnDigestBody } from "./schemas.ts";

/** Answered by analysis. */
export const digestFigures = {
  "GET /api/digest": analysisRoute.read({
    summary: "The digest: who entered and left high risk, what was done about alerts, and what changed",
    query: DigestParameters,
    answer: DigestAnswer,
  }),
} as const;

/** Answered by intake. Every role has its own digest. */
export const digestRoutes = {
  "GET /api/own-digest": intakeRoute.read({
    summary: "How often you get the digest by e-mail",
    answer: OwnDigestAnswer,
    needsPerson: true,
  }),
  "PUT /api/own-digest": intakeRoute.read({
    summary: "Switch your own digest by e-mail on or off",
    body: OwnDigestBody,
    answer: OwnDigestAnswer,
    needsPerson: true,
  }),
} as const;
