/** Every route that intake answers itself. The OpenAPI document is made of the same table. */

import { peopleLiveRoutes } from "./live-routes.ts";
import { peopleOrganizationRoutes } from "./organization-routes.ts";
import type { PeopleRoute } from "./route.ts";
import { peopleSessionRoutes } from "./session-routes.ts";
import { peopleSourceRoutes } from "./source-routes.ts";
import { peopleViewRoutes } from "./view-routes.ts";

export const peopleRoutes: readonly PeopleRoute[] = [
  ...peopleSessionRoutes,
  ...peopleOrganizationRoutes,
  ...peopleLiveRoutes,
  ...peopleViewRoutes,
  ...peopleSourceRoutes,
];
