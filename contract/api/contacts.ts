/** Contacts: times at which a user was contacted, by an event or by a mark of a team member. */
import Type from "typebox";
import { closedObject } from "./schema.ts";

/** The event that says that a user was contacted. It is done to the user, so it is no engagement. */
export const contactEvent = "contacted";

export const ContactBody = closedObject(
  {
    timestamp: Type.Optional(
      Type.String({
        maxLength: 100,
        description: "When the user was contacted, as `timestamp` of an event. Without it: now.",
        "x-send": "an ISO 8601 date-time",
      }),
    ),
  },
  { "x-send": "a JSON object, which may be empty" },
);
