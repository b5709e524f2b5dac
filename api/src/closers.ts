/** What was opened, to be closed in the opposite order, each whatever becomes of the others. */
export interface Closers {
  add(close: () => Promise<void> | void): void;
  /** Idempotent. */
  closeAll(): Promise<void>;
}

export function createClosers(onError: (error: unknown) => void): Closers {
  const opened: (() => Promise<void> | void)[] = [];
  let closing: Promise<void> | null = null;

  async function run(): Promise<void> {
    for (const close of opened.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        onError(error);
      }
    }
  }

  return {
    add: (close) => void opened.push(close),
    closeAll: () => (closing ??= run()),
  };
}
