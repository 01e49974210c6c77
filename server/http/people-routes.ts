/** Every route that intake answers itself. The OpenAPI document is made of the same table. */
import type { PeopleRoute } from "./people-api.ts";
import { peopleLiveRoutes } from "./people-live-routes.ts";
import { peopleOrganizationRoutes } from "./people-organization-routes.ts";
import { peopleSessionRoutes } from "./people-session-routes.ts";
import { peopleSourceRoutes } from "./people-source-routes.ts";
import { peopleViewRoutes } from "./people-view-routes.ts";

export const peopleRoutes: readonly PeopleRoute[] = [
  ...peopleSessionRoutes,
  ...peopleOrganizationRoutes,
  ...peopleLiveRoutes,
  ...peopleViewRoutes,
  ...peopleSourceRoutes,
];
