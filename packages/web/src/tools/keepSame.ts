/**
 * What is read anew and says the same stays the same object, so that what was made of it need not be made anew. The usual
 * way to do this copies member by member, and loses one that is called __proto__.
 */
export function keepSame<T>(before: T | undefined, after: T): T {
  try {
    return before !== undefined && JSON.stringify(before) === JSON.stringify(after) ? before : after;
  } catch {
    // Nested too deep to be written.
    return after;
  }
}
