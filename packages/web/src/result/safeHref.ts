/**
 * The URL of a server's link if it is safe to follow: http(s) only, and without a user name, which can make one
 * host look like another.
 */
export function safeHref(uri: string): string | undefined {
  let url: URL;
  try {
    url = new URL(uri);
  } catch {
    return undefined;
  }
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  return isWeb && url.username === '' && url.password === '' ? url.href : undefined;
}
