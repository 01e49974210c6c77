/** The hits of the command palette for a text: those that are known at once, and those that are asked for. */
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useMemo } from "react";
import type { Reads } from "../api/paths.ts";
import { useRead } from "../api/query.ts";
import type { IconName } from "../parts/icons.tsx";
import { listAddresses, viewSearch } from "../parts/list/view-address.ts";
import { counted, numbers } from "../text/format.ts";
import { navigation, settingsPages } from "./navigation.ts";
import { useMayAs, useOrganization } from "./session.ts";
import { setTheme, themeLabels, themes } from "./theme.ts";

export interface Hit {
  readonly id: string;
  readonly group: "Pages" | "Settings" | "Appearance" | "Views" | "Users" | "Accounts" | "Events";
  readonly icon: IconName;
  readonly label: string;
  readonly about: string;
  /** Whether another answer may replace it. */
  readonly isAskedFor: boolean;
  readonly go: () => void;
}

/** Hits of one group that are listed. Behind them a row leads to all. */
const maxHits = 6;

type Going = (go: () => unknown) => () => void;
type Navigate = ReturnType<typeof useNavigate>;

/** Finds what a text names. Users, accounts and events are asked for from the first letter on.
 * @returns the hits that are listed, and how many there are with those that are not */
export function useHits(
  text: string,
  onClose: () => void,
): { readonly hits: readonly Hit[]; readonly found: number; readonly isAsking: boolean } {
  const search = useDeferredValue(text);
  const query = { search, limit: maxHits };
  const asked = { query, enabled: search !== "", keepsPrevious: true };
  const users = useRead("/api/users", { ...asked, query: { ...query, excluded: "included" } });
  const accounts = useRead("/api/accounts", asked);
  const events = useRead("/api/events", asked);
  const known = useKnownHits(text, onClose);
  const lists = useListHits(
    { text, users: users.data, accounts: accounts.data, events: events.data },
    onClose,
  );
  const asking = [users, accounts, events];
  // Rows of the text before stay in sight until the answer comes.
  const isOld = asking.some(({ isPending, isPlaceholderData }) => isPending || isPlaceholderData);
  const isFailed = asking.some(({ isError }) => isError);
  const isAsking = text !== "" && !isFailed && (search !== text || isOld);
  return useMemo(() => {
    const listed = lists.flatMap(({ hits, all }) => (all === undefined || isAsking ? hits : [...hits, all]));
    const found = lists.reduce((sum, { total }) => sum + total, known.length);
    return { hits: [...known, ...listed], found, isAsking };
  }, [known, lists, isAsking]);
}

/** Whether a text is part of a label, or begins a word of the description beside it. */
function isNamed(text: string, label: string, beside: string): boolean {
  const wanted = text.toLowerCase();
  return label.toLowerCase().includes(wanted) || ` ${beside.toLowerCase()}`.includes(` ${wanted}`);
}

/** Closes the palette before it goes somewhere. */
function goingAfter(onClose: () => void): Going {
  return (go) => () => {
    onClose();
    void go();
  };
}

/** Pages, settings, appearances and saved views. */
function useKnownHits(text: string, onClose: () => void): readonly Hit[] {
  const navigate = useNavigate();
  const organization = String(useOrganization().id);
  const views = useRead("/api/views").data?.views;
  const isMember = useMayAs("member");
  const isOwner = useMayAs("owner");
  return useMemo(() => {
    const going = goingAfter(onClose);
    const params = { organization };
    const pages = navigation
      .flat()
      .filter(({ label, about }) => isNamed(text, label, about))
      .map(
        ({ to, label, icon, about }): Hit => ({
          ...{ id: to, group: "Pages", icon, label, about, isAskedFor: false },
          go: going(() => navigate({ to, params })),
        }),
      );
    if (text === "") return pages;
    const may = { viewer: true, member: isMember, owner: isOwner };
    const settings = settingsPages
      .filter(({ least }) => may[least])
      .filter(({ label, about, words }) => isNamed(text, label, `${about} ${words}`))
      .map(
        ({ to, label, about }): Hit => ({
          ...{ id: to, group: "Settings", icon: "settings", label, about, isAskedFor: false },
          go: going(() => navigate({ to, params })),
        }),
      );
    const appearances = themes
      .filter((theme) => isNamed(text, themeLabels[theme], "appearance theme mode"))
      .map(
        (theme): Hit => ({
          ...{ id: `appearance ${theme}`, group: "Appearance", icon: themeIcons[theme] },
          ...{ label: themeLabels[theme], about: "Appearance of these pages", isAskedFor: false },
          go: going(() => setTheme(theme)),
        }),
      );
    return [
      ...pages,
      ...settings,
      ...appearances,
      ...viewHits(views ?? [], text, { navigate, going, params }),
    ];
  }, [text, views, isMember, isOwner, navigate, onClose, organization]);
}

const themeIcons = { system: "screen", light: "sun", dark: "moon" } as const satisfies Record<
  string,
  IconName
>;

function viewHits(
  views: Reads["/api/views"]["answer"]["views"],
  text: string,
  { navigate, going, params }: { navigate: Navigate; going: Going; params: { organization: string } },
): Hit[] {
  return views
    .filter(({ name }) => isNamed(text, name, ""))
    .map(({ id, page, name, query }) => ({
      ...{ id: `view ${id}`, group: "Views", icon: page, label: name, isAskedFor: false },
      about: `Saved view of ${page}`,
      go: going(() => navigate({ to: listAddresses[page], params, search: viewSearch(query, id) })),
    }));
}

/** The hits of one group, and the row that leads to all of them where there are more. */
interface ListHits {
  readonly hits: readonly Hit[];
  readonly all: Hit | undefined;
  readonly total: number;
}

interface Answers {
  readonly text: string;
  readonly users: Reads["/api/users"]["answer"] | undefined;
  readonly accounts: Reads["/api/accounts"]["answer"] | undefined;
  readonly events: Reads["/api/events"]["answer"] | undefined;
}

function useListHits({ text, users, accounts, events }: Answers, onClose: () => void): readonly ListHits[] {
  const navigate = useNavigate();
  const organization = String(useOrganization().id);
  return useMemo(() => {
    if (text === "") return [];
    const going = goingAfter(onClose);
    const params = { organization };
    const userHits = (users?.users ?? []).map(
      ({ userId, email, name, accountName }): Hit => ({
        ...{ id: `user ${userId}`, group: "Users", icon: "person", label: name ?? email ?? userId },
        // Two users may have one name.
        about: [name === null ? userId : (email ?? userId), accountName].filter(Boolean).join(" · "),
        isAskedFor: true,
        go: going(() => navigate({ to: "/o/$organization/users/$userId", params: { organization, userId } })),
      }),
    );
    const accountHits = (accounts?.accounts ?? []).map(
      ({ accountId, name, members }): Hit => ({
        ...{ id: `account ${accountId}`, group: "Accounts", icon: "accounts", label: name || accountId },
        about: `${members} ${members === 1 ? "member" : "members"}`,
        isAskedFor: true,
        go: going(() =>
          navigate({ to: "/o/$organization/accounts/$accountId", params: { organization, accountId } }),
        ),
      }),
    );
    const eventHits = (events?.events ?? []).map(
      ({ event, label, users: people }): Hit => ({
        ...{ id: `event ${event}`, group: "Events", icon: "events", label: label ?? event },
        about: `by ${counted(people, "user")}`,
        isAskedFor: true,
        go: going(() => navigate({ to: "/o/$organization/events", params, search: { event } })),
      }),
    );
    const search = { search: text };
    return [
      withAll(
        userHits,
        users?.total,
        "users",
        text,
        going(() =>
          navigate({ to: listAddresses.users, params, search: { ...search, excluded: "included" } }),
        ),
      ),
      withAll(
        accountHits,
        accounts?.total,
        "accounts",
        text,
        going(() => navigate({ to: listAddresses.accounts, params, search })),
      ),
      withAll(
        eventHits,
        events?.total,
        "events",
        text,
        going(() => navigate({ to: "/o/$organization/events", params, search })),
      ),
    ];
  }, [text, users, accounts, events, navigate, onClose, organization]);
}

function withAll(
  hits: readonly Hit[],
  total = hits.length,
  things: "users" | "accounts" | "events",
  text: string,
  go: () => void,
): ListHits {
  const group = hits[0]?.group;
  if (group === undefined || total <= hits.length) return { hits, total, all: undefined };
  const label = `All ${numbers.count(total)} ${things} with “${text}”`;
  return {
    hits,
    total,
    all: { id: `all ${things}`, group, icon: "search", label, about: "", isAskedFor: true, go },
  };
}
