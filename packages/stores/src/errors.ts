/** The store did not answer in time, or not at all: nothing is known about the outcome of what was asked. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  readonly store: string;
  constructor(store: string, cause?: unknown) {
    super(`The ${store} store does not respond`, { cause });
    this.store = store;
  }
}
