/** The store did not answer in time. The outcome of the operation is unknown. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
  readonly store: string;
  constructor(store: string, cause?: unknown) {
    super(`The ${store} store does not respond`, { cause });
    this.store = store;
  }
}
