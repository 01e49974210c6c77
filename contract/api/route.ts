/** A route of the JSON API. `routes.ts` has the table. */
import type { Static, TObject, TProperties, TSchema } from "typebox";
import Type from "typebox";
import { FreshnessAnswer, NoParameters } from "./api.ts";

/** The rights of a role or of a read key that a route may need. `own` is for owners alone, and no read key
 * has it. */
type RouteRight = "read" | "manage" | "erase" | "own";

/** `anybody`: no session is needed. `session`: any session. Otherwise a right in the organization that the
 * request names. */
export type Access = "anybody" | "session" | RouteRight;

export interface Route {
  /** Routes that need no warehouse are answered by intake, so that they work while analysis is away. */
  readonly answeredBy: "intake" | "analysis";
  readonly access: Access;
  /** A route of intake that also takes read keys with the right. All routes of analysis take them, except the
   * owners' own. */
  readonly takesKeys?: true;
  /** It is about the team member who asks, so neither read keys nor the command line can ask it. */
  readonly needsPerson?: true;
  readonly summary: string;
  /** The topic and the verb of the route's command, where the path makes a bad one. */
  readonly command?: string;
  /** An object of strings, numbers, booleans and arrays. A parameter with a default may be left out. */
  readonly query: TSchema;
  /** A route without a body ignores what is sent. */
  readonly body?: TSchema;
  /** For a body that needs more than other bodies of intake. */
  readonly maxBodyBytes?: number;
  readonly status: 200 | 201 | 204;
  /** 204 has none. */
  readonly answer?: TSchema;
  /** When it is answered 409. */
  readonly conflict?: string;
  /** The array of the answer that is also answered as CSV. */
  readonly table?: string;
  /** Its answer also says how fresh it is. */
  readonly isFigure?: true;
  /** The answer is a file that is sent while it is read. */
  readonly isDocument?: true;
  /** The body is a file, which the handler reads as it comes. Routes of intake. */
  readonly isUpload?: true;
  /** The answer is a file of this type. Routes of intake. */
  readonly isFile?: "text/csv";
  /** The answer is a stream of server-sent events with these data. */
  readonly isStream?: true;
}

/** An entry as it is written, with the defaults of its kind. */
type WithDefaults<Entry, Defaults> = Omit<Defaults, keyof Entry> & Entry;

function entryWith<const Defaults extends Partial<Route>>(defaults: Defaults) {
  return <const Entry extends Omit<Partial<Route>, "isFigure"> & Pick<Route, "summary">>(
    entry: Entry,
  ): WithDefaults<Entry, Defaults> => ({ ...defaults, ...entry });
}

const ofAnalysis = { answeredBy: "analysis", query: NoParameters, status: 200 } as const;
const ofIntake = { answeredBy: "intake", query: NoParameters, status: 200 } as const;

/** A figure: read with GET, answered by analysis. */
export const figure = entryWith({ ...ofAnalysis, access: "read", isFigure: true });

/** Other routes of analysis, by the access that they need. */
export const analysisRoute = {
  read: entryWith({ ...ofAnalysis, access: "read" }),
  manage: entryWith({ ...ofAnalysis, access: "manage" }),
  erase: entryWith({ ...ofAnalysis, access: "erase" }),
  own: entryWith({ ...ofAnalysis, access: "own" }),
};

/** Routes of intake, by the access that they need. */
export const intakeRoute = {
  anybody: entryWith({ ...ofIntake, access: "anybody" }),
  session: entryWith({ ...ofIntake, access: "session" }),
  read: entryWith({ ...ofIntake, access: "read" }),
  manage: entryWith({ ...ofIntake, access: "manage" }),
  own: entryWith({ ...ofIntake, access: "own" }),
};

/** Routes of intake that also take read keys, by the right that they need. */
export const keyRoute = {
  read: entryWith({ ...ofIntake, access: "read", takesKeys: true }),
  manage: entryWith({ ...ofIntake, access: "manage", takesKeys: true }),
};

/** Whether a route takes read keys, beside sessions. */
export function takesReadKeys({ answeredBy, access, takesKeys }: Route): boolean {
  return takesKeys === true || (answeredBy === "analysis" && access !== "own");
}

/** Whether a route needs a session: the command line cannot ask it. */
export function needsSession({ access, needsPerson }: Route): boolean {
  return access === "anybody" || access === "session" || needsPerson === true;
}

/** The schema of a route's answer, a figure's with its freshness. */
export function answerOf({ answer, isFigure }: Pick<Route, "answer" | "isFigure">): TSchema | undefined {
  if (isFigure !== true || answer === undefined) return answer;
  const { properties } = answer as TObject<TProperties>;
  return Type.Object({ ...properties, freshness: FreshnessAnswer });
}

/** How far a figure is to be trusted at this moment. */
export type Freshness = Static<typeof FreshnessAnswer>;

/** The names after colons in a path. */
export type PathNames<Path extends string> = Path extends `${infer Start}/${infer Rest}`
  ? PathNames<Start> | PathNames<Rest>
  : Path extends `:${infer Name}`
    ? Name
    : never;
