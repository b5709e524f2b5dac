/** What was opened, to be closed in the opposite order, each whatever becomes of the others. */
export interface Disposables {
  add(close: () => Promise<void> | void): void;
  /** Idempotent. */
  disposeAll(): Promise<void>;
}

export function createDisposables(onError: (error: unknown) => void): Disposables {
  const callbacks: (() => Promise<void> | void)[] = [];
  let disposal: Promise<void> | null = null;

  async function run(): Promise<void> {
    for (const close of callbacks.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        onError(error);
      }
    }
  }

  return {
    add: (close) => void callbacks.push(close),
    disposeAll: () => (disposal ??= run()),
  };
}
