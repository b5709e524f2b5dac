import type { UpstreamTarget } from '../upstream/target.ts';
import type { Ready } from './obtainCredential.ts';

/** Shorter ones would mask half a sentence and hide nothing. */
const SHORTEST = 8;

/**
 * A server's own words without what it was shown to let us in. Some repeat the key that they refuse, and where the key
 * is the operator's it is not for who calls.
 */
export function maskPresented(text: string, ready: Ready): string {
  const shown = presented('holder' in ready ? ready.holder.target : ready.server.target);
  // The longest first: one may hold another.
  return [...new Set(shown)]
    .filter((value) => value.length >= SHORTEST)
    .sort((a, b) => b.length - a.length)
    .reduce((masked, value) => masked.replaceAll(value, '[redacted]'), text);
}

function presented(target: UpstreamTarget): string[] {
  if (target.type === 'stdio') return Object.values(target.env);
  const query = [...new URL(target.url).searchParams.values()];
  return [...query, ...Object.values(target.headers).flatMap(headerForms), ...(target.bearer?.shown() ?? [])];
}

/** A key is repeated with its scheme or without, and a password as it was before it was encoded. */
function headerForms(value: string): string[] {
  const [, scheme = '', rest = ''] = /^(\S+) +(.+)$/.exec(value) ?? [];
  if (scheme.toLowerCase() !== 'basic') return [value, rest];
  const decoded = Buffer.from(rest, 'base64').toString();
  return [value, rest, decoded, decoded.slice(decoded.indexOf(':') + 1)];
}
