/** Filters of lists by which the users or accounts behind a figure are found, as JSON Schema. */
import Type from "typebox";
import { day } from "./api.ts";
import { HealthBand } from "./states.ts";

const flag = (description: string) => Type.Optional(Type.Boolean({ description }));

/** Which accounts and users are to be called: said wherever it is used. */
export const toCallText =
  "To be called: not churned, by event or by silence, and either the churn risk is high (from .5) or health fell by 15 points or more against the scores of 7 days before the newest.";

/** How health went since the earlier scores. */
const moves = ["changed", "worse", "better", "fell", "rose", "churned", "returned"] as const;

/** By how scores went: the same for users and accounts. */
export const movementFilters = {
  isPresent: flag("True: only those who have a health score and have not churned. False: only the others."),
  healthBandBefore: Type.Optional(
    Type.Enum([...HealthBand.enum, "present"], {
      description:
        "Only those whose health had this health band in the scores that changes are told against (`since`). `present` is any but churned and none.",
    }),
  ),
  moved: Type.Optional(
    Type.Enum([...moves], {
      description:
        "Only those whose health went this way since the earlier scores. `changed`: to another band. `worse`, `better`: from at_risk, watch or healthy to a lower or a higher one of them. `fell`, `rose`: the score, of those who are active and had not churned. `churned`, `returned`: to churned, and from churned.",
    }),
  ),
  toCall: flag(`True: only those who are to be called. False: only the others. ${toCallText}`),
} as const;

/** The weeks of a lifecycle: of the days from `activeFrom` to `activeTo`, and the 7 days before them. */
const stages = ["new", "returning", "resurrected", "dormant"] as const;

/** By what was done on which days: of users. Excluded users count in no figure, so these filters leave them out. */
export const activityFilters = {
  activeFrom: Type.Optional(
    day("Only users with an engagement event on this day or later, up to `activeTo`; send both."),
  ),
  activeTo: Type.Optional(day("The last of these days.")),
  lifecycle: Type.Optional(
    Type.Enum([...stages], {
      description:
        "With activeFrom and activeTo, of their users: `new` had their first engagement event ever on these days, `returning` were active in the 7 days before as well, `resurrected` earlier only. `dormant` were active in the 7 days before and not on these days.",
    }),
  ),
  activeInAccount: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 256,
      description:
        "With activeFrom and activeTo: only users with such an event that carries the account with this id. They may belong to another one now.",
    }),
  ),
} as const;
