/** What the JSON API says where the rules of scores change. */
import Type from "typebox";
import { SettingChange } from "../settings.ts";

const day = (description: string) => Type.String({ format: "date", description });

/** Of a history. */
export const Marks = Type.Array(
  Type.Object({
    day: day("The first day whose scores follow the change."),
    changes: Type.Array(SettingChange, { description: "Of the settings that scores depend on." }),
    exclusionsChanged: Type.Boolean({ description: "Whether others were left out of all figures." }),
  }),
  {
    description: "Where scores begin to follow other rules than on the scored day before, the oldest first.",
  },
);

/** Of lists that hold scores against earlier ones. */
export const sinceThen = {
  sinceDay: Type.Union([day("The day of the earlier scores."), Type.Null()]),
  rulesChanged: Type.Boolean({
    description: "Whether settings or exclusions are others than then: a part of the change is theirs.",
  }),
};
