import { parseAddress, parsePrefix, within, type Address } from './address.ts';
import { hostOf, type Target } from './target.ts';

type Rule = (target: Target) => boolean;

/**
 * Compiles NO_PROXY: `*`, `host` (with its subdomains, as curl and Go read it), `.host` and `*.host`, an address, a
 * CIDR block, a range `a-b`, bare or bracketed IPv6, each but the blocks with an optional port. Entries compare with
 * the host as written: a name is never resolved to find out. An entry that is none of these matches nothing.
 */
export function compileNoProxy(text: string): Rule {
  const rules = text
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(compileEntry);
  return (target) => rules.some((rule) => rule(target));
}

function compileEntry(entry: string): Rule {
  if (entry === '*') return () => true;

  const prefix = parsePrefix(entry);
  if (prefix) return ({ literal }) => literal !== undefined && within(literal, prefix);

  const [low, high, ...more] = entry.split('-').map(parseAddress);
  if (low && high && more.length === 0) {
    return ({ literal }) =>
      literal !== undefined && compare(low, literal) <= 0 && compare(literal, high) <= 0;
  }

  // Bare IPv6 first: its last group is not a port.
  const bare = parseAddress(entry);
  if (bare) return ({ literal }) => literal !== undefined && compare(bare, literal) === 0;

  const [, rawHost = '', rawPort] = /^(\[[^\]]+\]|[^:]+)(?::([0-9]{1,5}))?$/.exec(entry) ?? [];
  const port = rawPort === undefined ? undefined : Number(rawPort);
  const onPort = (target: Target) => port === undefined || port === target.port;
  const subdomainsOnly = /^\*?\./.test(rawHost);
  const host = hostOf(rawHost.replace(/^\*?\./, ''));
  if (host === undefined) return () => false;
  const literal = parseAddress(host);
  if (literal) {
    return (target) =>
      target.literal !== undefined && compare(literal, target.literal) === 0 && onPort(target);
  }
  return (target) =>
    onPort(target) && (target.host.endsWith(`.${host}`) || (!subdomainsOnly && target.host === host));
}

/** Orders addresses of one family; those of two families are never equal nor within each other. */
function compare(a: Address, b: Address): number {
  if (a.bytes.length !== b.bytes.length) return Number.NaN;
  return Buffer.compare(a.bytes, b.bytes);
}
