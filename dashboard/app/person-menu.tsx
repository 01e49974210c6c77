/** The menu of the account, the organization and the appearance. */
import { useNavigate } from "@tanstack/react-router";
import type { ReactElement } from "react";
import { below } from "../api/base.ts";
import { usePersonalChange } from "../api/query.ts";
import { Icon } from "../parts/icons.tsx";
import { Menu, MenuChoices, MenuItem, MenuLine } from "../parts/menu.tsx";
import { useTell } from "../parts/toast.tsx";
import { useLeft } from "./leave.ts";
import { PageLink } from "./page-link.ts";
import { useOrganization, useSession } from "./session.ts";
import { setTheme, themeLabels, themes, useTheme } from "./theme.ts";

const trigger = "flex w-full items-center gap-2 rounded px-2 py-1.5 text-left hover:bg-surface";

/** The organization that is shown, and the way to another. */
export function OrganizationSwitcher(): ReactElement {
  const { organizations } = useSession();
  const present = useOrganization();
  const navigate = useNavigate();
  if (organizations.length === 1) {
    return <p className="truncate px-2 font-medium">{present.name}</p>;
  }
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" aria-label={`Organization: ${present.name}. Switch`} className={trigger}>
          <span className="min-w-0 grow truncate font-medium">{present.name}</span>
          <Icon name="down" className="shrink-0 text-soft" />
        </button>
      }
    >
      <MenuChoices
        label="Organization"
        value={String(present.id)}
        choices={organizations.map(({ id, name }) => ({ value: String(id), label: name }))}
        onChoose={(organization) =>
          void navigate({ to: "/o/$organization/overview", params: { organization } })
        }
      />
    </Menu>
  );
}

/** The person's own menu. */
export function PersonMenu(): ReactElement {
  const { person } = useSession();
  const theme = useTheme();
  return (
    <Menu
      side="top"
      align="start"
      trigger={
        <button type="button" className={trigger}>
          <span
            aria-hidden="true"
            className="grid size-7 shrink-0 place-items-center rounded-full bg-ember-wash text-sm font-semibold text-ember"
          >
            {person.name.trim().charAt(0).toUpperCase()}
          </span>
          <span className="min-w-0 grow">
            <span className="block truncate">{person.name}</span>
            <span className="block truncate text-xs text-soft">{person.email}</span>
          </span>
          <Icon name="more" className="shrink-0 text-soft" />
        </button>
      }
    >
      <MenuItem isLink>
        <PageLink to="/o/$organization/settings/account">Your account</PageLink>
      </MenuItem>
      <MenuLine />
      <MenuChoices
        label="Appearance"
        value={theme}
        choices={themes.map((value) => ({ value, label: themeLabels[value] }))}
        onChoose={setTheme}
      />
      <MenuLine />
      <MenuItem isLink>
        <a href={below("/reference")}>API reference</a>
      </MenuItem>
      <SignOut />
    </Menu>
  );
}

function SignOut(): ReactElement {
  const left = useLeft();
  const tell = useTell();
  const end = usePersonalChange("DELETE /api/session");
  // By its promise: the menu, and this with it, is gone before the answer comes.
  const signOut = async () => {
    try {
      await end.mutateAsync(undefined);
    } catch (error) {
      if (error instanceof Error) tell.failed(error);
      return;
    }
    await left();
  };
  return (
    <MenuItem icon="leave" onSelect={() => void signOut()}>
      Sign out
    </MenuItem>
  );
}
