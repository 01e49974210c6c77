/** The summary of the loaded data, with the next commands. */

import { formatDay } from "../server/calendar/days.ts";
import { vendorDomain } from "../simulation/population.ts";
import { stateOn, type Truth } from "../simulation/truth.ts";
import { grouped } from "./print.ts";

export interface Loaded {
  readonly organization: string;
  /** The server's address. */
  readonly url: string;
  readonly seed: number;
  readonly events: number;
  readonly firstDay: number;
  readonly lastDay: number;
  /** Items that were there before. */
  readonly duplicates: number;
  readonly isVisible: boolean;
  /** What was scored, in a sentence; undefined when nothing was. */
  readonly scored: string | undefined;
  /** Whether it got segments, alert rules with alerts, tasks, notes, contacts and pulses. */
  readonly hasTeam: boolean;
  readonly seconds: number;
  readonly truth: Truth;
  /** The e-mail of its owner, who is a member or has been invited. */
  readonly owner?: string;
}

/** The text for standard output. */
export function summary(loaded: Loaded): string {
  const {
    organization,
    url,
    seed,
    events,
    firstDay,
    lastDay,
    duplicates,
    seconds,
    isVisible,
    scored,
    hasTeam,
    truth,
  } = loaded;
  const { users, accounts } = truth;
  const now = users.map(({ history }) => stateOn(history, lastDay));
  const count = (state: string) => grouped(now.filter((each) => each === state).length);
  const again = duplicates === 0 ? "" : ` ${grouped(duplicates)} items were there before.`;
  const visible = isVisible
    ? scored === undefined
      ? ""
      : `\n${scored}`
    : "\nThey are stored; figures and exports follow when the analysis process runs.";
  const name = /^[\w-]+$/.test(organization) ? organization : JSON.stringify(organization);
  return `${organization}: ${grouped(users.length)} users in ${grouped(accounts.length)} accounts and ${grouped(events)} events, ${formatDay(firstDay)} to ${formatDay(lastDay)}, in ${seconds.toFixed(1)} s.${again}${visible}
The truth behind them: ${count("gone")} users have left, ${count("fading")} are fading, ${count("asleep")} are away for weeks and will come back. Seed ${seed} repeats them.
${hasTeam ? "Its team has 2 segments, 4 alert rules with alerts, and tasks, notes, contacts and pulses of accounts at risk.\n" : ""}Users at ${vendorDomain} are excluded from all figures: they are the vendor's own staff, test users and monitor.

${wayIn(loaded, name)}

As files, and by the API:

  npx rekindle export users --organization ${name} --format csv
  npx rekindle export events --organization ${name} --format jsonl
  export KEY=$(npx rekindle key create --organization ${name} --name demo)
  curl -H "Authorization: Bearer $KEY" '${url}/api/active-users?days=28&format=csv'
  curl -H "Authorization: Bearer $KEY" '${url}/api/retention?format=csv'
`;
}

/** How the organization's pages are reached. */
function wayIn({ url, organization, owner }: Loaded, name: string): string {
  if (owner !== undefined) return `The dashboard is at ${url}.`;
  return `The dashboard is at ${url}: claim it there to own ${organization}. Already have an account? This command prints a link for it:

  npx rekindle member invite you@example.com --role owner --organization ${name}`;
}
