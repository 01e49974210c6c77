/** The hits of the command palette for a text: those that are known at once, and those that are asked for. */
import { useDeferredValue } from "react";
import { useRead } from "../api/query.ts";
import type { IconName } from "../parts/icons.tsx";
import { listAddresses, viewSearch } from "../parts/list/view-address.ts";
import { counted, numbers } from "../text/format.ts";
import { navigation } from "./navigation.ts";
import { usePageNavigate } from "./page-link.ts";
import { useRights } from "./session.ts";
import { settingsPages } from "./settings-pages.ts";
import { setTheme, themeLabels, themes } from "./theme.ts";

export interface Hit {
  readonly id: string;
  readonly group: "Pages" | "Settings" | "Appearance" | "Views" | "Users" | "Accounts" | "Events";
  readonly icon: IconName;
  readonly label: string;
  readonly about: string;
  readonly go: () => unknown;
}

/** Hits of one group that are listed. Behind them a row leads to all. */
const maxHits = 6;
/** Hits of one group of which the best are listed. */
const askedHits = 50;

/** Whether another answer may replace the hit. */
export function isAskedFor({ group }: Hit): boolean {
  return group === "Users" || group === "Accounts" || group === "Events";
}

/** Finds what a text names. Users, accounts and events are asked for from the first letter on.
 * @returns the hits that are listed, and how many there are with those that are not */
export function useHits(text: string): {
  readonly hits: readonly Hit[];
  readonly found: number;
  readonly isAsking: boolean;
} {
  const search = useDeferredValue(text);
  const query = { search, limit: askedHits };
  const asked = { query, enabled: search !== "", keepsPrevious: true };
  const users = useRead("/api/users", { ...asked, query: { ...query, excluded: "included" } });
  const accounts = useRead("/api/accounts", asked);
  const events = useRead("/api/events", asked);
  const navigate = usePageNavigate();
  const known = useKnownHits(text);
  if (text === "") return { hits: known, found: known.length, isAsking: false };
  const asking = [users, accounts, events];
  // Rows of the text before stay in sight until the answer comes.
  const isOld = asking.some(({ isPending, isPlaceholderData }) => isPending || isPlaceholderData);
  const isFailed = asking.some(({ isError }) => isError);
  const isAsking = !isFailed && (search !== text || isOld);
  const lists: readonly ListHits[] = [
    {
      group: "Users",
      icon: "person",
      total: users.data?.total ?? 0,
      hits: (users.data?.users ?? []).map(({ userId, email, name, accountName }) => ({
        id: `user ${userId}`,
        label: name ?? email ?? userId,
        // Two users may have one name.
        about: [name === null ? userId : (email ?? userId), accountName].filter(Boolean).join(" · "),
        go: () => navigate({ to: "/o/$organization/users/$userId", params: { userId } }),
      })),
      goToAll: () => navigate({ to: listAddresses.users, search: { search: text, excluded: "included" } }),
    },
    {
      group: "Accounts",
      icon: "accounts",
      total: accounts.data?.total ?? 0,
      hits: (accounts.data?.accounts ?? []).map(({ accountId, name, members }) => ({
        id: `account ${accountId}`,
        label: name || accountId,
        about: `${members} ${members === 1 ? "member" : "members"}`,
        go: () => navigate({ to: "/o/$organization/accounts/$accountId", params: { accountId } }),
      })),
      goToAll: () => navigate({ to: listAddresses.accounts, search: { search: text } }),
    },
    {
      group: "Events",
      icon: "events",
      total: events.data?.total ?? 0,
      hits: (events.data?.events ?? []).map(({ event, label, users: people }) => ({
        id: `event ${event}`,
        label: label ?? event,
        about: `by ${counted(people, "user")}`,
        go: () => navigate({ to: "/o/$organization/events", search: { event } }),
      })),
      goToAll: () => navigate({ to: "/o/$organization/events", search: { search: text } }),
    },
  ];
  return {
    hits: [...known, ...inOrder(lists, text).flatMap((list) => listed(list, text, isAsking))],
    found: lists.reduce((sum, { total }) => sum + total, known.length),
    isAsking,
  };
}

/** Whether a hit's name or id begins with a text. */
const beginsWith = (text: string, { label, id }: Pick<Hit, "label" | "id">) =>
  [label, id.slice(id.indexOf(" ") + 1)].some((name) => name.toLowerCase().startsWith(text.toLowerCase()));

/** The groups, with one whose hit begins with the text before the others, and in each group such hits first:
 * the account Sorn is above its members at sorn.example. */
function inOrder(lists: readonly ListHits[], text: string): readonly ListHits[] {
  const rank = (hit: Pick<Hit, "label" | "id">) => (beginsWith(text, hit) ? 0 : 1);
  const ranked = lists.map((list) => ({ ...list, hits: list.hits.toSorted((a, b) => rank(a) - rank(b)) }));
  const best = ({ hits: [first] }: ListHits) => (first === undefined ? 1 : rank(first));
  return ranked.toSorted((a, b) => best(a) - best(b));
}

/** The hits of one group of which there may be more than are listed. */
interface ListHits extends Pick<Hit, "group" | "icon"> {
  readonly hits: readonly Omit<Hit, "group" | "icon">[];
  readonly total: number;
  readonly goToAll: Hit["go"];
}

/** The rows of a group: its hits, and where there are more the row that leads to all of them. */
function listed({ group, icon, hits, total, goToAll }: ListHits, text: string, isAsking: boolean): Hit[] {
  const rows = hits.slice(0, maxHits).map((hit) => ({ ...hit, group, icon }));
  if (isAsking || rows.length === 0 || total <= rows.length) return rows;
  const things = group.toLowerCase();
  const label = `All ${numbers.count(total)} ${things} with “${text}”`;
  return [...rows, { id: `all ${things}`, group, icon: "search", label, about: "", go: goToAll }];
}

/** Whether a text is part of a label, or begins a word of the description beside it. */
function isNamed(text: string, label: string, beside: string): boolean {
  const wanted = text.toLowerCase();
  return label.toLowerCase().includes(wanted) || ` ${beside.toLowerCase()}`.includes(` ${wanted}`);
}

const themeIcons = { system: "screen", light: "sun", dark: "moon" } as const;

/** Pages, settings, appearances and saved views. */
function useKnownHits(text: string): readonly Hit[] {
  const navigate = usePageNavigate();
  const views = useRead("/api/views").data?.views ?? [];
  const may = useRights();
  const pages = navigation
    .flat()
    .filter(({ label, about }) => isNamed(text, label, about))
    .map((page): Hit => ({ ...page, id: page.to, group: "Pages", go: () => navigate({ to: page.to }) }));
  if (text === "") return pages;
  const settings = settingsPages
    .filter(({ label, about, words, least }) => may[least] && isNamed(text, label, `${about} ${words}`))
    .map(
      ({ to, label, about }): Hit => ({
        id: to,
        group: "Settings",
        icon: "settings",
        label,
        about,
        go: () => navigate({ to }),
      }),
    );
  const appearances = themes
    .filter((theme) => isNamed(text, themeLabels[theme], "appearance theme mode"))
    .map(
      (theme): Hit => ({
        id: `appearance ${theme}`,
        group: "Appearance",
        icon: themeIcons[theme],
        label: themeLabels[theme],
        about: "Appearance of these pages",
        go: () => setTheme(theme),
      }),
    );
  const saved = views
    .filter(({ name }) => isNamed(text, name, ""))
    .map(
      ({ id, page, name, query }): Hit => ({
        id: `view ${id}`,
        group: "Views",
        icon: page,
        label: name,
        about: `Saved view of ${page}`,
        go: () => navigate({ to: listAddresses[page], search: viewSearch(query, id) }),
      }),
    );
  return [...pages, ...settings, ...appearances, ...saved];
}
