/** The saved views of a list, which an organization's members share: opened by a click, saved, renamed and
 * deleted. */
import { useSearch } from "@tanstack/react-router";
import { type ReactElement, type ReactNode, useState } from "react";
import { type Reads, useChange, useRead } from "../../api/query.ts";
import { PageLink, usePageNavigate } from "../../app/page-link.ts";
import { useMayAs } from "../../app/session.ts";
import { classes } from "../../text/classes.ts";
import { Button } from "../form/button.tsx";
import { useConfirmedChange } from "../form/confirmed-change.ts";
import { NameDialog } from "../form/name-dialog.tsx";
import { Menu, MenuItem, MenuLine } from "../menu.tsx";
import { useTell } from "../toast.tsx";
import { Scrollable } from "./scrollable.tsx";
import { listAddresses, viewSearch } from "./view-address.ts";

type View = Reads["/api/views"]["answer"]["views"][number];
type Page = View["page"];

/** The parameters of an address that a view does not save. A search may name a user, `view` is the view
 * itself, and `saves` a segment. */
const notSaved = ["search", "view", "saves"];

/** A query without what is no part of a view, in a stable order. */
function savedQuery(pairs: Iterable<readonly [string, string]>): string {
  const kept = [...pairs].filter(([name, value]) => !notSaved.includes(name) && value !== "");
  return String(new URLSearchParams(kept.map(([name, value]) => [name, value])).toString())
    .split("&")
    .sort()
    .join("&");
}

interface ViewStripProps {
  readonly page: Page;
  /** The name of the list without any filter. */
  readonly everything: string;
  /** The columns that are shown, as the address has them. */
  readonly columns: string;
}

export function ViewStrip({ page, everything, columns }: ViewStripProps): ReactElement {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const views = (useRead("/api/views").data?.views ?? []).filter((view) => view.page === page);
  const present = Object.entries(search).map(([name, value]) => [name, String(value)] as const);
  const opened = views.find(({ id }) => String(id) === search.view);
  const asShown = savedQuery([...present.filter(([name]) => name !== "columns"), ["columns", columns]]);
  const isChanged = opened !== undefined && savedQuery(new URLSearchParams(opened.query)) !== asShown;
  const isNew = opened === undefined && savedQuery(present) !== "";
  const mayChange = useMayAs("member");
  return (
    <div className="mb-3 flex min-w-0 items-center gap-3">
      <Scrollable label="Views" className="min-w-0 overflow-x-auto rounded">
        <ul className="flex items-center gap-1 py-0.5 whitespace-nowrap">
          <li>
            <ViewLink page={page} query="" isOpen={opened === undefined && !isNew}>
              {everything}
            </ViewLink>
          </li>
          {views.map((view) => (
            <li key={view.id}>
              <ViewLink
                page={page}
                id={view.id}
                query={view.query}
                isOpen={view === opened}
                by={view.createdBy}
              >
                {view.name}
                {view === opened && isChanged && <span className="text-soft"> · changed</span>}
              </ViewLink>
            </li>
          ))}
        </ul>
      </Scrollable>
      {mayChange && (isNew || opened !== undefined) && (
        <ViewActions page={page} opened={opened} isChanged={isChanged} query={asShown} />
      )}
    </div>
  );
}

function ViewLink({
  page,
  id,
  query,
  isOpen,
  by,
  children,
}: {
  page: Page;
  id?: number;
  query: string;
  isOpen: boolean;
  by?: string | null;
  children: ReactNode;
}): ReactElement {
  const current = { "aria-current": isOpen ? "true" : undefined } as const;
  return (
    <PageLink
      to={listAddresses[page]}
      search={viewSearch(query, id)}
      activeProps={current}
      inactiveProps={current}
      resetScroll={false}
      title={by == null ? undefined : `Saved by ${by}`}
      className={classes(
        "inline-flex h-7 items-center rounded px-2.5 text-sm no-underline",
        isOpen ? "bg-ink font-medium text-inverse [&_*]:text-inverse" : "text-ink hover:bg-sunk",
      )}
    >
      <span className="max-w-64 truncate">{children}</span>
    </PageLink>
  );
}

/** The actions on the open view, or on filters that are not saved yet. */
function ViewActions({
  page,
  opened,
  isChanged,
  query,
}: {
  page: Page;
  opened: View | undefined;
  isChanged: boolean;
  query: string;
}): ReactElement {
  const [naming, setNaming] = useState<"new" | "rename">();
  const navigate = usePageNavigate();
  const tell = useTell();
  const replacement = useConfirmedChange("PATCH /api/views/:id");
  const deletion = useConfirmedChange("DELETE /api/views/:id");
  const replace = ({ id, name }: View) =>
    replacement.ask(
      {
        title: `Change the view “${name}”?`,
        text: "All members who open it get these filters, this order and these columns instead.",
        action: "Change the view",
      },
      { path: { id }, body: { query } },
      `The view “${name}” was changed.`,
    );
  const remove = ({ id, name }: View) =>
    deletion.ask(
      {
        title: `Delete the view “${name}”?`,
        text: "It goes for everybody in the organization. The users and accounts in it stay as they are.",
        action: "Delete the view",
        isDangerous: true,
      },
      { path: { id } },
      () => {
        tell(`The view “${name}” was deleted.`);
        void navigate({ to: listAddresses[page] });
      },
    );
  return (
    <div className="shrink-0">
      {opened === undefined ? (
        <Button isSmall icon="plus" onClick={() => setNaming("new")}>
          Save view
        </Button>
      ) : (
        <Menu
          trigger={
            <Button isSmall icon="more" aria-label={`View options: ${opened.name}`}>
              View
            </Button>
          }
        >
          {isChanged && <MenuItem onSelect={() => void replace(opened)}>Save changes</MenuItem>}
          <MenuItem onSelect={() => setNaming("new")}>Save as another view …</MenuItem>
          <MenuItem onSelect={() => setNaming("rename")}>Rename …</MenuItem>
          <MenuLine />
          <MenuItem isDangerous onSelect={() => void remove(opened)}>
            Delete …
          </MenuItem>
        </Menu>
      )}
      {naming === "new" && <NewView page={page} query={query} onClose={() => setNaming(undefined)} />}
      {naming === "rename" && opened !== undefined && (
        <RenamedView view={opened} onClose={() => setNaming(undefined)} />
      )}
    </div>
  );
}

function NewView({ page, query, onClose }: { page: Page; query: string; onClose: () => void }): ReactElement {
  const create = useChange("POST /api/views");
  const navigate = usePageNavigate();
  const tell = useTell();
  const save = (name: string) =>
    create.mutate(
      { body: { page, name, query } },
      {
        onSuccess: ({ id }) => {
          tell(`The view “${name}” was saved for everybody in the organization.`);
          onClose();
          void navigate({ to: listAddresses[page], search: viewSearch(query, id), resetScroll: false });
        },
      },
    );
  return (
    <NameDialog
      title="Save this view"
      about="Filters, order and columns under a name, for everybody in the organization. A text that is searched for is not saved."
      action="Save view"
      name=""
      change={create}
      onName={save}
      onClose={onClose}
    />
  );
}

function RenamedView({ view, onClose }: { view: View; onClose: () => void }): ReactElement {
  const change = useChange("PATCH /api/views/:id");
  const save = (name: string) =>
    change.mutate({ path: { id: view.id }, body: { name } }, { onSuccess: onClose });
  return (
    <NameDialog
      title={`Rename “${view.name}”`}
      about="Its filters, order and columns stay."
      action="Rename"
      name={view.name}
      change={change}
      onName={save}
      onClose={onClose}
    />
  );
}
