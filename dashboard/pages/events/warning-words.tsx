/** The meaning of each kind of ingestion warning, and advice. */
import type { Reads } from "../../api/paths.ts";

export type WarningKind = Reads["/api/ingestion-warnings"]["answer"]["warnings"][number]["kind"];

interface Words {
  readonly word: string;
  readonly tone: "warn" | "bad" | "info";
  readonly meaning: string;
  readonly advice: string;
}

export const warningWords: Readonly<Record<WarningKind, Words>> = {
  refused_validation: {
    word: "Refused: not valid",
    tone: "bad",
    meaning: "The request was rejected with 400. Nothing was stored.",
    advice: "The message names the wrong field and the right form. Fix it and send it again.",
  },
  refused_unknown_user: {
    word: "Refused: unknown user",
    tone: "bad",
    meaning: "The event names a user who was never identified. It was rejected with 404 and not stored.",
    advice: "Send an identify for the user first, then the event again.",
  },
  rate_limited: {
    word: "Refused: too many",
    tone: "bad",
    meaning: "Requests exceeded the organization's limit. They were rejected with 429 and not stored.",
    advice: "Send batches, or wait as Retry-After says. An owner can raise the limit in the settings.",
  },
  unknown_key: {
    word: "Unknown key",
    tone: "warn",
    meaning: "The request was stored without a key that Rekindle does not know.",
    advice: "Is it misspelt? Put your own traits and properties into `properties`.",
  },
  held_full: {
    word: "Dropped: too many held",
    tone: "bad",
    meaning: "An unidentified visitor had more events than can be held. The oldest were dropped.",
    advice:
      "Does the source identify its users? Events are held until an identify or alias with the visitor's id.",
  },
  held_expired: {
    word: "Dropped: never identified",
    tone: "bad",
    meaning: "The event was held for 30 days. No user was identified by its id.",
    advice:
      "None is needed for visitors who never sign up. Otherwise send an identify with the visitor's id.",
  },
  held_refused: {
    word: "Dropped: not valid",
    tone: "bad",
    meaning: "A held event could not be assigned to its user.",
    advice: "See the message, e.g. the user would have too many traits.",
  },
  links_full: {
    word: "Not linked: too many ids",
    tone: "bad",
    meaning:
      "A link between two ids was not stored: the user has 1,000 ids, or too many ids lead to unidentified visitors.",
    advice: "Does a program alias generated ids? Send aliases only for identified users.",
  },
  email_left_out: {
    word: "E-mail left out",
    tone: "warn",
    meaning: "A source sent an invalid e-mail address. The rest was stored.",
    advice: "Send the address as the trait `email`, or leave it out.",
  },
  trait_left_out: {
    word: "Trait left out",
    tone: "warn",
    meaning: "A reserved trait (e.g. `plan`) was not a string. The rest was stored.",
    advice: "Send it as a string. Send pictures as a URL.",
  },
  browser_field_ignored: {
    word: "Field ignored",
    tone: "warn",
    meaning:
      "A browser token tried to change what only a server may say, e.g. the e-mail or the account of an existing user, or who looks after it. The rest was stored.",
    advice: "Send this field from your server, with a server token.",
  },
  placeholder_id: {
    word: "Placeholder id",
    tone: "warn",
    meaning:
      "A tool sent an id such as `undefined` or `null`. With a visitor's id the item counts as the visitor's, else it was rejected.",
    advice: "Identify only once the application knows the user's id.",
  },
  number_kept_as_text: {
    word: "Number kept as text",
    tone: "warn",
    meaning: "A number has more digits than JSON keeps. It was stored as a text of its digits.",
    advice: "Send it as a string.",
  },
  half_character_replaced: {
    word: "Half a character",
    tone: "warn",
    meaning:
      "A text was cut within a character, such as an emoji. The half was replaced by �, and the rest was stored.",
    advice: 'Cut texts by characters: [...text].slice(0, 80).join("") in JavaScript.',
  },
  server_token_in_page: {
    word: "Server token in a page",
    tone: "warn",
    meaning:
      "A page sent with a token of the scope server, which everybody can read there. The request was taken.",
    advice: "Use a token of the scope browser in pages, and revoke this one.",
  },
  test_mode_ignored: {
    word: "Test mode",
    tone: "warn",
    meaning:
      "A billing tool sent purchases of its test mode, sandbox or simulator. They are no money, so nothing was stored.",
    advice:
      "Connect the tool's live mode. For a first look, choose “Take test purchases” on the page of sources.",
  },
  event_in_future: {
    word: "Event in the future",
    tone: "warn",
    meaning: "The event was stored. Its time is more than 10 minutes in the future.",
    advice: "Is the sender's clock wrong, or its timezone? Send times with Z or an offset.",
  },
  duplicate: {
    word: "Duplicate",
    tone: "info",
    meaning: "The same message arrived within 24 hours. It was answered 201 and not stored again.",
    advice: "None is needed after a retry. Otherwise two different messages share a messageId.",
  },
};

/** The kinds, those of what was lost first. */
export const warningKinds = Object.keys(warningWords) as WarningKind[];
