/** The live view of what arrives. Intake answers it, because every write passes through its process. */

import { LiveMessages, LiveParameters } from "../../../contract/live.ts";
import { ApiError } from "../../../contract/refusal.ts";
import { liveStream } from "./live-stream.ts";
import { type PeopleRoute, peopleRoute } from "./route.ts";

const retryAfterSeconds = 30;

export const peopleLiveRoutes: readonly PeopleRoute[] = [
  peopleRoute({
    ...{ method: "GET", path: "/api/live", access: "read", status: 200, query: LiveParameters },
    summary:
      "What senders send, as it arrives: server-sent events named item, skipped and end. First the latest items",
    answer: LiveMessages,
    isStream: true,
    handler: async ({ live, place, signedIn, query, placeNow }) => {
      const organization = place.organization.id;
      const person = signedIn.session.person.id;
      if (!live.hasRoom(organization, person)) {
        const message =
          "Too many pages watch live at this moment. Close one of yours that does, or come back later.";
        throw new ApiError("rate_limit_exceeded", message, retryAfterSeconds);
      }
      const rightsNow = async () => (await placeNow())?.rights;
      const { rights } = place;
      return { stream: liveStream({ live, organization, person, after: query.after, rights, rightsNow }) };
    },
  }),
];
