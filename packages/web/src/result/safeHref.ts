/**
 * Where a link of a server may lead: to a web page, and to nothing that a browser would run or hand to a program. An
 * address with a name before the host is made to look like another one, so it is not followed either.
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
