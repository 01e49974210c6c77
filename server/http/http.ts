/** The module's interface: the public port, the write API, the JSON API and the pages. */

export { AnalysisApi, headersOfCaller } from "./api/analysis-api.ts";
export type { ApiParts } from "./api/context.ts";
export { begun } from "./api/csv.ts";
export { apiHandler, readKeyRequestsPerSecond } from "./api/gateway.ts";
export { openApiDocument } from "./docs/openapi.ts";
export { referencePage } from "./docs/reference-page.ts";
export { analysisHandlers } from "./figures/handlers.ts";
export { wholeLists } from "./figures/lists.ts";
export { segmentsForKeeper, segmentsForRules } from "./figures/segments/for-actions.ts";
export { documents } from "./figures/work/person.ts";
export { taskEntitiesPath, taskEntityHandlers, taskEntityRoutes } from "./figures/work/tasks.ts";
export { answerCommand, type CommandParts } from "./members/command-api.ts";
export { PeopleGate } from "./members/gate.ts";
export { intakeHandlers } from "./members/handlers.ts";
export { IntakeApi } from "./members/intake-api.ts";
export { startingHeader, unexpected } from "./port/answers.ts";
export { Authorizer } from "./port/authorize.ts";
export { BodyBudget } from "./port/body-budget.ts";
export { ClientAddresses } from "./port/client-address.ts";
export { PageHost } from "./port/page-host.ts";
export { ReadKeys } from "./port/read-keys.ts";
export { type HttpOptions, type HttpServer, startHttp } from "./port/server.ts";
export { UnknownTokens } from "./port/unknown-tokens.ts";
