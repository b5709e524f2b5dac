/**
 * The library, with the two functions that its container looks for and never gets an answer from: nothing of ours is
 * injected, so nothing is ever looked up. Loaded when a certificate is first wanted.
 */
export async function loadX509() {
  const reflect = Reflect as { getMetadata?: unknown; getOwnMetadata?: unknown };
  reflect.getMetadata ??= () => undefined;
  reflect.getOwnMetadata ??= () => undefined;
  return import('@peculiar/x509');
}
