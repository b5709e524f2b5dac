/** Runs what one caller wants one after another, in the order in which it was wanted. */
export type KeyedMutex = <T>(key: string, work: () => Promise<T>) => Promise<T>;

export function createKeyedMutex(yieldToEventLoop: () => Promise<void>): KeyedMutex {
  const tails = new Map<string, Promise<void>>();

  return async (key, work) => {
    const predecessor = tails.get(key);
    let release: () => void = () => undefined;
    const tail = new Promise<void>((resolve) => (release = resolve));
    tails.set(key, tail);
    try {
      if (predecessor) {
        await predecessor;
        // However many waited: between two of them everybody else has a turn.
        await yieldToEventLoop();
      }
      return await work();
    } finally {
      release();
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
