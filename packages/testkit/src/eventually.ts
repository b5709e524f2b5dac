/** Waits for a condition of the outside world (another process, a TTL) with a deadline, never a fixed sleep. */
export async function eventually<T>(
  what: string,
  probe: () => Promise<T | false | null | undefined> | T | false | null | undefined,
  deadlineMs = 10_000,
): Promise<T> {
  const end = Date.now() + deadlineMs;
  for (;;) {
    const value = await probe();
    if (value !== false && value !== null && value !== undefined) return value;
    if (Date.now() > end) throw new Error(`Not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
