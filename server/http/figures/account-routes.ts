/** The routes of the JSON API about accounts. */
import { AccountErasureAnswer, NoParameters } from "../../../contract/api/api.ts";
import {
  AccountAnswer,
  AccountListAnswer,
  AccountListParameters,
  AccountParameters,
  AccountTimelineAnswer,
  TimelineParameters,
} from "../../../contract/api/lists.ts";
import { figure } from "../api/freshness.ts";
import { type ApiRoute, route } from "../api/route.ts";
import { eraseOneAccount, oneAccount, timelineOfAccount } from "./accounts.ts";
import { accountsOnPage, allAccounts } from "./lists.ts";

export const accountRoutes: readonly ApiRoute[] = [
  figure({
    method: "GET",
    path: "/api/accounts",
    right: "read",
    summary: "Accounts with their scores, searched, filtered and sorted, a page at a time",
    query: AccountListParameters,
    answer: AccountListAnswer,
    table: "accounts",
    handler: accountsOnPage,
    everything: allAccounts,
  }),
  figure({
    method: "GET",
    path: "/api/accounts/:accountId",
    right: "read",
    summary: "An account with its members",
    query: AccountParameters,
    answer: AccountAnswer,
    table: "users",
    handler: oneAccount,
  }),
  route({
    method: "DELETE",
    path: "/api/accounts/:accountId",
    right: "erase",
    summary: "Erase an account; its members stay, in no account",
    query: NoParameters,
    answer: AccountErasureAnswer,
    handler: eraseOneAccount,
  }),
  route({
    method: "GET",
    path: "/api/accounts/:accountId/timeline",
    right: "read",
    summary: "What the users of an account did last",
    query: TimelineParameters,
    answer: AccountTimelineAnswer,
    table: "events",
    handler: timelineOfAccount,
  }),
];
