import { abortReason, type Cancellation } from '@behalf/kernel';

/** Settles as the work does, or with the signal's reason as soon as it aborts. The work goes on. */
export function waitFor<T>(work: Promise<T>, signal: Cancellation): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      // Nobody hears how it ends.
      work.catch(() => undefined);
      return reject(abortReason(signal));
    }
    const onAbort = () => reject(abortReason(signal));
    signal.addEventListener('abort', onAbort);
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
