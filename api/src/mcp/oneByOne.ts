/** Does the work, and once more when it was wanted again meanwhile. */
export function oneByOne(work: () => Promise<void>): () => void {
  let busy = false;
  let again = false;
  return () => {
    again = true;
    if (busy) return;
    busy = true;
    void (async () => {
      while (again) {
        again = false;
        // The store does not answer: the next notice asks again.
        await work().catch(() => undefined);
      }
      busy = false;
    })();
  };
}
