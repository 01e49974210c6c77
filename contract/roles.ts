/** Roles of team members: viewer reads; member also manages (settings, exclusions, rejected events, project
 * tokens); owner does everything. */
export const roles = ["owner", "member", "viewer"] as const;
export type Role = (typeof roles)[number];
