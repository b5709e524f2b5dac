/**
 * What is read anew and says the same stays the same object, so that what was made of it need not be made anew. The usual
 * way to do this copies member by member, and loses one that is called __proto__.
 */
export function keepIfEqual<T>(previous: T | undefined, next: T): T {
  try {
    return previous !== undefined && JSON.stringify(previous) === JSON.stringify(next) ? previous : next;
  } catch {
    // Nested too deep to be written.
    return next;
  }
}
