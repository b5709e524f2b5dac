/** Does the work, and once more when it was wanted again meanwhile. */
export function coalesceRuns(work: () => Promise<void>): () => void {
  let isRunning = false;
  let isRequested = false;
  return () => {
    isRequested = true;
    if (isRunning) return;
    isRunning = true;
    void (async () => {
      while (isRequested) {
        isRequested = false;
        // The store does not answer: the next notice asks again.
        await work().catch(() => undefined);
      }
      isRunning = false;
    })();
  };
}
