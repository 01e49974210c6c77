/** Contacts: times at which a user was contacted, by an event or by a mark of a team member. */

/** The event that says that a user was contacted. It is done to the user, so it is no engagement. */
export const contactEvent = "contacted";
