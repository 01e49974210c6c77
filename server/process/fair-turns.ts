/**
 * Fair turns at a scarce resource (the engine's readers, password hashes): a crowd delays itself and not
 * others. Groups (organizations, addresses) take turns, and so do the members of a group. A member's own
 * requests are served in their order.
 */

/** The owner of a request for a turn. */
export interface Asker {
  readonly group: string;
  readonly member: string;
  /** Aborted when the answer is not needed any more. */
  readonly signal?: AbortSignal;
}

export interface FairTurnsOptions {
  readonly places: number;
  /** Places that a group may hold while others wait. */
  readonly heldWhileOthersWait: number;
  /** Places that a group may ever hold. With fewer than all, a new group need not wait for another group's
   * long work. */
  readonly heldAtMost: number;
  /** Places that one member of a group may ever hold, so that the other members need not wait for them. Left
   * out where a group has one member. */
  readonly heldByMember?: number;
}

/** Of several places a group holds at most half while others wait, and never all, because a query may take
 * half a minute. A member never holds more than half. */
export function sharedPlaces(places: number): FairTurnsOptions {
  return {
    places,
    heldWhileOthersWait: Math.max(1, Math.floor(places / 2)),
    heldAtMost: Math.max(1, places - 1),
    heldByMember: Math.max(1, Math.floor(places / 2)),
  };
}

interface Waiting {
  grant(): void;
  refuse(reason: unknown): void;
}

interface Group {
  held: number;
  /** By each member, those that hold any. */
  readonly heldBy: Map<string, number>;
  /** The waiting requests of each member, oldest first. The map keeps the order in which members came. */
  readonly members: Map<string, Waiting[]>;
}

/** The service's own work, which has no limit of its own: its amount is bounded. */
const own: Omit<Asker, "signal"> = { group: "the service itself", member: "" };

export class FairTurns {
  readonly #options: FairTurnsOptions;
  #free: number;
  /** By name, the group that was served longest ago first. Only groups that hold a place or wait. */
  readonly #groups = new Map<string, Group>();

  constructor(options: FairTurnsOptions) {
    this.#options = options;
    this.#free = options.places;
  }

  /** Resolves when it is the asker's turn; the place has to be given back.
   * @param asker left out for the service's own work
   * @throws the signal's reason when it is aborted before */
  async take(asker: Asker | undefined): Promise<void> {
    const { group: name, member } = asker ?? own;
    const signal = asker?.signal;
    signal?.throwIfAborted();
    const group: Group = this.#groups.get(name) ?? { held: 0, heldBy: new Map(), members: new Map() };
    this.#groups.set(name, group);
    const turn = Promise.withResolvers<void>();
    const waiting: Waiting = { grant: turn.resolve, refuse: turn.reject };
    const queue = group.members.get(member) ?? [];
    queue.push(waiting);
    group.members.set(member, queue);
    const leave = () => {
      const place = queue.indexOf(waiting);
      // It had its turn already.
      if (place < 0) return;
      queue.splice(place, 1);
      if (queue.length === 0) group.members.delete(member);
      this.#forgetIdle(name, group);
      turn.reject(signal?.reason);
    };
    this.#grant();
    signal?.addEventListener("abort", leave, { once: true });
    try {
      await turn.promise;
    } finally {
      signal?.removeEventListener("abort", leave);
    }
  }

  /** Gives a place back. */
  giveBack(asker: Asker | undefined): void {
    const { group: name, member } = asker ?? own;
    const group = this.#groups.get(name);
    const heldByMember = group?.heldBy.get(member) ?? 0;
    if (group === undefined || heldByMember === 0)
      throw new Error("a turn was given back that was not taken");
    group.held -= 1;
    if (heldByMember === 1) group.heldBy.delete(member);
    else group.heldBy.set(member, heldByMember - 1);
    this.#free += 1;
    this.#forgetIdle(name, group);
    this.#grant();
  }

  /** How many of a group wait. */
  waiting(name: string): number {
    let sum = 0;
    for (const queue of this.#groups.get(name)?.members.values() ?? []) sum += queue.length;
    return sum;
  }

  /** How many wait in all. */
  get allWaiting(): number {
    return [...this.#groups.keys()].reduce((sum, name) => sum + this.waiting(name), 0);
  }

  /** Refuses all that wait. */
  refuseWaiting(reason: unknown): void {
    for (const [name, group] of this.#groups) {
      for (const queue of group.members.values()) for (const waiting of queue) waiting.refuse(reason);
      group.members.clear();
      this.#forgetIdle(name, group);
    }
  }

  #grant(): void {
    while (this.#free > 0) {
      const name = this.#next();
      const group = name === undefined ? undefined : this.#groups.get(name);
      const member = name === undefined || group === undefined ? undefined : this.#nextMember(name, group);
      if (name === undefined || group === undefined || member === undefined) return;
      this.#free -= 1;
      group.held += 1;
      group.heldBy.set(member, (group.heldBy.get(member) ?? 0) + 1);
      // To the end of the row.
      this.#groups.delete(name);
      this.#groups.set(name, group);
      firstOf(group.members, member)?.grant();
    }
  }

  /** The next group: the first that holds no more than its share, otherwise the first that may hold more. */
  #next(): string | undefined {
    let more: string | undefined;
    for (const [name, group] of this.#groups) {
      if (this.#nextMember(name, group) === undefined) continue;
      const { held } = group;
      if (name === own.group || held < this.#options.heldWhileOthersWait) return name;
      if (held < this.#options.heldAtMost) more ??= name;
    }
    return more;
  }

  /** The next member of a group: the first that waits and may hold one more place. */
  #nextMember(name: string, { heldBy, members }: Group): string | undefined {
    const { heldByMember = Number.POSITIVE_INFINITY } = this.#options;
    for (const member of members.keys()) {
      if (name === own.group || (heldBy.get(member) ?? 0) < heldByMember) return member;
    }
    return undefined;
  }

  #forgetIdle(name: string, { held, members }: Group): void {
    if (held === 0 && members.size === 0) this.#groups.delete(name);
  }
}

/** Takes out the first request of a member and moves the member to the end of the queue. */
function firstOf(members: Map<string, Waiting[]>, member: string): Waiting | undefined {
  const queue = members.get(member);
  const first = queue?.shift();
  members.delete(member);
  if (queue !== undefined && queue.length > 0) members.set(member, queue);
  return first;
}
