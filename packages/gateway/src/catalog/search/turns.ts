/** Runs what one caller wants one after another, in the order in which it was wanted. */
export type InTurn = <T>(caller: string, work: () => Promise<T>) => Promise<T>;

export function createTurns(giveWay: () => Promise<void>): InTurn {
  const last = new Map<string, Promise<void>>();

  return async (caller, work) => {
    const before = last.get(caller);
    let leave: () => void = () => undefined;
    const mine = new Promise<void>((resolve) => (leave = resolve));
    last.set(caller, mine);
    try {
      if (before) {
        await before;
        // However many waited: between two of them everybody else has a turn.
        await giveWay();
      }
      return await work();
    } finally {
      leave();
      if (last.get(caller) === mine) last.delete(caller);
    }
  };
}
