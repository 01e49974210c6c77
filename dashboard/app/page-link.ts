/** Ways to the pages of the organization that is shown. Its id is taken from the address. */
import { getRouteApi } from "@tanstack/react-router";
import { pages } from "../../contract/pages.ts";

const organization = getRouteApi(pages.organization);

/** A link to a page of the organization that is shown. */
export const PageLink = organization.Link;

/** Goes to pages of the organization that is shown. */
export const usePageNavigate = organization.useNavigate;
