/** Days on which data collection had stopped, as an organization declares them. */
import Type from "typebox";
import { keyRoute } from "./route.ts";
import { closedObject, Field } from "./schema.ts";

const from = Field.day("The first day without data, in the organization's timezone.");
const to = Field.day("The last day without data: `from` or later, today at the latest, 366 days at most.");

const OutageAnswer = Type.Object({
  id: Type.Integer({ minimum: 1 }),
  from,
  to,
  createdAt: Field.instant("When it was declared."),
});

export const outageRoutes = {
  "GET /api/outages": keyRoute.read({
    summary: "Declared outages: days on which data collection had stopped, which scores leave out",
    answer: Type.Object({ outages: Type.Array(OutageAnswer, { description: "In the order of days." }) }),
  }),
  "POST /api/outages": keyRoute.manage({
    summary: "Declare an outage; scores of the days after it are computed again",
    body: closedObject({ from, to }),
    status: 201,
    answer: OutageAnswer,
  }),
  "DELETE /api/outages/:id": keyRoute.manage({
    summary: "Remove a declared outage; its days count again",
    status: 204,
  }),
} as const;
