/** How refreshes of stored tokens ended, by their code. Who refreshes one counts it here. */
export interface RefreshStats {
  count(outcome: string): void;
  /** A pair was received and could not be stored: until it is, one process alone holds a user's sign-in. */
  countNotStored(): void;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly notStored: number;
}

export function createRefreshStats(): RefreshStats {
  const outcomes = new Map<string, number>();
  let notStored = 0;
  return {
    count: (outcome) => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1),
    countNotStored: () => void (notStored += 1),
    outcomes,
    get notStored() {
      return notStored;
    },
  };
}
