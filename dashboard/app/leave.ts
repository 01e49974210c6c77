/** The end of a session. */
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { sessionQuery } from "./session.ts";

/** Forgets the session that was just ended, and all that was read in it, on the page for signing in. */
export function useLeft(): () => Promise<void> {
  const client = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    await navigate({ to: "/sign-in" });
    client.clear();
    client.setQueryData(sessionQuery.queryKey, null);
  };
}
