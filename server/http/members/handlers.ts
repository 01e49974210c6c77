/** The handler of every route that intake answers. */
import { contactHandlers } from "./contacts.ts";
import { destinationHandlers } from "./destinations.ts";
import type { IntakeHandlers } from "./intake-api.ts";
import { liveHandlers } from "./live.ts";
import { organizationHandlers } from "./organization.ts";
import { sessionHandlers } from "./session.ts";
import { sourceSettingsHandlers } from "./source-settings.ts";
import { viewHandlers } from "./views.ts";
import { noteHandlers, ownerHandlers, taskHandlers } from "./work.ts";

export const intakeHandlers: IntakeHandlers = {
  ...contactHandlers,
  ...destinationHandlers,
  ...liveHandlers,
  ...noteHandlers,
  ...organizationHandlers,
  ...ownerHandlers,
  ...sessionHandlers,
  ...sourceSettingsHandlers,
  ...taskHandlers,
  ...viewHandlers,
};
