/**
 * Whether two hosts are so obviously of one owner that nobody has to be asked: the same, or one under the other. Two names under
 * a common parent are not, because without the list of public suffixes `a.co.uk` and `b.co.uk` look like `mcp.example.com` and
 * `auth.example.com`. Asking once too often costs a click; not asking may cost a token.
 */
export function areRelatedHosts(a: string, b: string): boolean {
  const [first, second] = [normalizeHost(a), normalizeHost(b)];
  if (first === second) return true;
  if (isIpAddress(first) || isIpAddress(second)) return false;
  return isSubdomainOf(first, second) || isSubdomainOf(second, first);
}

function isSubdomainOf(host: string, parent: string): boolean {
  return parent.split('.').length >= 2 && host.endsWith(`.${parent}`);
}

function isIpAddress(host: string): boolean {
  return host.startsWith('[') || /^[\d.]+$/.test(host);
}

function normalizeHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
