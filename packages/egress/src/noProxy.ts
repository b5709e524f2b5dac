import { parseAddress, parsePrefix, isInPrefix, type Address } from './address.ts';
import { parseHost, type NetworkTarget } from './target.ts';

type NoProxyRule = (target: NetworkTarget) => boolean;

/**
 * Compiles NO_PROXY: `*`, `host` (with its subdomains, as curl and Go read it), `.host` and `*.host`, an address, a
 * CIDR block, a range `a-b`, bare or bracketed IPv6, each but the blocks with an optional port. Entries compare with
 * the host as written: a name is never resolved to find out. An entry that is none of these matches nothing.
 */
export function compileNoProxy(text: string): NoProxyRule {
  const rules = text
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(compileNoProxyEntry);
  return (target) => rules.some((rule) => rule(target));
}

function compileNoProxyEntry(entry: string): NoProxyRule {
  if (entry === '*') return () => true;

  const prefix = parsePrefix(entry);
  if (prefix) return ({ ipAddress }) => ipAddress !== undefined && isInPrefix(ipAddress, prefix);

  const [low, high, ...extra] = entry.split('-').map(parseAddress);
  if (low && high && extra.length === 0) {
    return ({ ipAddress }) =>
      ipAddress !== undefined &&
      compareAddresses(low, ipAddress) <= 0 &&
      compareAddresses(ipAddress, high) <= 0;
  }

  // Bare IPv6 first: its last group is not a port.
  const address = parseAddress(entry);
  if (address)
    return ({ ipAddress }) => ipAddress !== undefined && compareAddresses(address, ipAddress) === 0;

  const [, rawHost = '', rawPort] = /^(\[[^\]]+\]|[^:]+)(?::([0-9]{1,5}))?$/.exec(entry) ?? [];
  const port = rawPort === undefined ? undefined : Number(rawPort);
  const matchesPort = (target: NetworkTarget) => port === undefined || port === target.port;
  const isSubdomainRule = /^\*?\./.test(rawHost);
  const host = parseHost(rawHost.replace(/^\*?\./, ''));
  if (host === undefined) return () => false;
  const ipAddress = parseAddress(host);
  if (ipAddress) {
    return (target) =>
      target.ipAddress !== undefined &&
      compareAddresses(ipAddress, target.ipAddress) === 0 &&
      matchesPort(target);
  }
  return (target) =>
    matchesPort(target) && (target.host.endsWith(`.${host}`) || (!isSubdomainRule && target.host === host));
}

/** Orders addresses of one family; those of two families are never equal nor within each other. */
function compareAddresses(a: Address, b: Address): number {
  if (a.bytes.length !== b.bytes.length) return Number.NaN;
  return Buffer.compare(a.bytes, b.bytes);
}
