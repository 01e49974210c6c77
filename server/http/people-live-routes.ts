/** The live view of what arrives. Intake answers it, because every write passes through its process. */
import { LiveMessages, LiveParameters } from "../../contract/live.ts";
import { Denied } from "../dashboard/denied.ts";
import { liveStream } from "./live-stream.ts";
import { type PeopleRoute, peopleRoute } from "./people-api.ts";

const retryAfterSeconds = 30;

export const peopleLiveRoutes: readonly PeopleRoute[] = [
  peopleRoute({
    ...{ method: "GET", path: "/api/live", access: "read", status: 200, query: LiveParameters },
    summary:
      "What senders send, as it arrives: server-sent events named item, skipped and end. First the latest items",
    answer: LiveMessages,
    isStream: true,
    handler: async ({ live, place, query, mayStill }) => {
      const organization = place.organization.id;
      if (!live.hasRoom(organization)) {
        const message =
          "Too many people watch live at this moment. Close a page that does, or come back later.";
        throw new Denied("rate_limit_exceeded", message, retryAfterSeconds);
      }
      return { stream: liveStream({ live, organization, after: query.after, mayStill }) };
    },
  }),
];
