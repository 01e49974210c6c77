/** The module's interface: the public port, the write API, the JSON API and the pages. */

export { apiHandler, readKeyRequestsPerSecond } from "./api/gateway.ts";
export { Api, type ApiParts } from "./api/route.ts";
export { apiRoutes } from "./api/routes.ts";
export { openApiDocument } from "./docs/openapi.ts";
export { referencePage } from "./docs/reference-page.ts";
export { PeopleGate } from "./members/gate.ts";
export { PeopleApi } from "./members/route.ts";
export { peopleRoutes } from "./members/routes.ts";
export { startingHeader } from "./port/answers.ts";
export { Authorizer } from "./port/authorize.ts";
export { BodyBudget } from "./port/body-budget.ts";
export { ClientAddresses } from "./port/client-address.ts";
export { PageHost } from "./port/page-host.ts";
export { type HttpOptions, type HttpServer, startHttp } from "./port/server.ts";
export { UnknownTokens } from "./port/unknown-tokens.ts";
