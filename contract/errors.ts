/** The errors of the write API and their HTTP statuses. The specification closes this list. */
export const errorStatus = {
  validation_error: 400,
  invalid_write_key: 401,
  not_found: 404,
  rate_limit_exceeded: 429,
  application_error: 500,
} as const;

export type ErrorName = keyof typeof errorStatus;

/** The errors of /api: the errors of the write API and two more. */
export const apiErrorStatus = { ...errorStatus, forbidden: 403, conflict: 409 } as const;

export type ApiErrorName = keyof typeof apiErrorStatus;

/** Fixed messages. Other messages name a field, a user or a limit. */
export const errorMessages = {
  invalidToken: "Missing or invalid Project Token.",
  invalidArmToken: "Missing or invalid Project Token: POST /arm takes one with the scope arm.",
  invalidReadKey: "Missing or invalid read key.",
  userNotFound: "User not found. The user must first be identified through the /identify endpoint.",
  accountNotFound: "Account not found. An account is made when a user is identified with it.",
  nothingHere: "There is nothing at this path and method.",
  routeNotFound:
    "There is nothing at this path and method. The write API is POST /identify, POST /track and POST /batch.",
  apiRouteNotFound: "There is nothing at this path and method. /openapi.json lists the JSON API.",
  notSignedIn: "You are not signed in: sign in, or send a read key.",
  sessionAlone: "You are not signed in: sign in. This path takes no read key.",
  foreignPage:
    "This request did not come from a page of this service: send it from such a page, with the header X-Rekindle.",
  settingsChanged: "The settings changed after you read them. Read them again and send the new version.",
  wrongHost:
    "The Host header of this request is not PUBLIC_ADDRESS. Open that address, or set PUBLIC_URL. A proxy has to pass Host on.",
  twoHosts: "The Host header was sent twice: send it once.",
  noSuchOrganization: "There is no such organization.",
  analysisStarting: "analysis is starting; try again in a few seconds",
  noTasksOfSegment:
    "The tasks for users and accounts of a segment cannot be listed now: analysis does not answer. Try again in a few seconds, or leave out segment.",
  noDefaultExemption:
    "The MRR that a control group exempts by default cannot be computed now: analysis does not answer. Try again in a few seconds, or send exemptions.mrrAbove.",
  tooManyItems:
    "Too many requests: the batch exceeds the limit of items per second. Please send fewer items.",
  neverAllItems:
    "Too many requests: the batch has more items than are taken in a second. Please send at most",
  scoredTooSoon:
    "Too many requests: everybody was scored less than a minute ago. Please wait before scoring again.",
  rulePreviewInHand: "Too many requests: another preview of a rule is being computed. Please wait for it.",
  previewInHand: "Too many requests: another preview of settings is being computed. Please wait for it.",
  tooManyQuestions: "Too many requests at once. Please wait for the answers to earlier requests.",
  tooManyUnknownTokens:
    "Too many requests without a valid Project Token come from this address. Please limit the number of requests per second.",
  tooManyBodies: "Too many requests: the memory for request bodies is full. Please send again later.",
  tooManyRequests: "Too many requests. Please limit the number of requests per second.",
  catchingUp: "Too many requests: stored events wait to be processed. Please send again later.",
  organizationHeld:
    "Too many requests: earlier requests of this organization wait to be stored. Please send again later.",
  diskNearlyFull: "Too many requests: the service is almost out of disk space. Please send again later.",
  unexpected: "An unexpected error occurred. Please try again later.",
} as const;
