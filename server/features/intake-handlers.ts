/** The handler of every route that intake answers. */

import type { IntakeHandlers } from "../http/api/intake-api.ts";
import { alertRuleHandlers } from "./alerts/rule-handlers.ts";
import { assistantHandlers } from "./assistants/handlers.ts";
import { destinationHandlers } from "./destinations/handlers.ts";
import { ownDigestHandlers } from "./digest/own-digest.ts";
import { importHandlers } from "./imports/handlers.ts";
import { liveHandlers } from "./live-view.ts";
import { contactHandlers } from "./notes-and-tasks/contacts.ts";
import { noteHandlers, ownerHandlers, taskHandlers } from "./notes-and-tasks/handlers.ts";
import { outageHandlers } from "./outages.ts";
import { pulseHandlers } from "./pulse/handlers.ts";
import { viewHandlers } from "./saved-views/handlers.ts";
import { segmentHandlers } from "./segments/handlers.ts";
import { sourceSettingsHandlers } from "./source-settings/handlers.ts";
import { organizationHandlers } from "./team/organization.ts";
import { sessionHandlers } from "./team/session.ts";

export const intakeHandlers: IntakeHandlers = {
  ...alertRuleHandlers,
  ...assistantHandlers,
  ...contactHandlers,
  ...destinationHandlers,
  ...importHandlers,
  ...liveHandlers,
  ...noteHandlers,
  ...organizationHandlers,
  ...outageHandlers,
  ...ownDigestHandlers,
  ...ownerHandlers,
  ...pulseHandlers,
  ...segmentHandlers,
  ...sessionHandlers,
  ...sourceSettingsHandlers,
  ...taskHandlers,
  ...viewHandlers,
};
