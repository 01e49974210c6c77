/** Limits of team members' requests, each with its unit in its name. */
export const peopleLimits = {
  nameCharacters: 200,
  passwordMinCharacters: 10,
  passwordMaxCharacters: 200,
  /** After signing in, however often the session is used. */
  sessionDays: 30,
  /** That a browser is known in which a person has signed in. */
  deviceDays: 365,
  invitationDays: 7,
  resetLinkHours: 24,
  membersPerOrganization: 1_000,
  /** Open ones, of one organization. */
  invitationsPerOrganization: 200,
  /** That one person makes, in 24 hours and in all organizations: their mails have words of the person's
   * choice. */
  invitationsPerDay: 100,
  /** Mails with invitations to one address, in 24 hours, whoever sends them. */
  invitationMailsPerAddress: 3,
  organizationsPerPerson: 100,
  /** Living ones of an organization, of each kind. */
  credentialsPerOrganization: 200,
  sessionsPerPerson: 50,
} as const;

/** Limits of the organization's own parts of health. */
export const healthTraitLimits = { traits: 10, characters: 256, largestValue: 1e15 } as const;
