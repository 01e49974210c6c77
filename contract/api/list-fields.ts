/** Fields and parameters that several lists have: owners, sources of churn reasons,
 * controls of a hold-out, and where a page begins. */
import Type from "typebox";
import { reasonSources } from "../churn-reasons.ts";
import { Field, nullable } from "./schema.ts";

/** How an owner is found. */
export const ownerText =
  "The owner is the team member whose e-mail address or name is the trait `owner` of a user, or the attribute `owner` of an account. A user without the trait has the owner of the account.";

/** The owner of a user or an account in lists. */
export const ownerFields = {
  owner: Field.textOrNull(`The owner's name. ${ownerText}`),
  ownerId: nullable(Type.Integer({ minimum: 1 }), { description: "The owner's id as a team member." }),
};

/** Who said a churn reason. */
export const reasonFrom = nullable(Type.Enum([...reasonSources]), {
  description:
    "team: the trait or attribute `churnReason`, which an application may send as well. billing: a billing event. event: the event of the churn target. Null without a reason.",
});

/** Until when a user or an account is a control. */
export const controlField = {
  controlUntil: nullable(
    Field.day(
      "The last day in the control group of an alert rule. Until then no call list has the user or account. Users of an account in a control group are in the control group as well. Null: in no control group.",
    ),
  ),
};

/** Only users or accounts of one owner. */
export const ownerFilter = Type.Optional(
  Type.String({
    pattern: "^(me|nobody|[0-9]{1,15})$",
    "x-send": "me, nobody, or the id of a team member",
    description: `Only users or accounts whose owner is the team member with this id; me: the signed-in team member; nobody: without an owner. ${ownerText}`,
  }),
);

/** To read a timeline on. */
export const beforeParameter = Type.Optional(
  Type.String({
    pattern:
      "^-?[0-9]{1,14}\\.([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(alert|task_done|task|note)-[0-9]{1,15})$",
    description:
      "`next` of the previous page: a time in Unix milliseconds, and the id of an event or the kind and number of an alert, a note or a task.",
    "x-send": "the `next` of the previous page",
  }),
);
