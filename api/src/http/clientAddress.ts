import type { IncomingMessage } from 'node:http';

/**
 * Whose address a request comes from. Of what proxies say only the last `proxies` are believed: everything before was
 * written by whoever called them.
 */
export function createClientAddressReader(trustedProxies: number): (req: IncomingMessage) => string {
  return ({ headers, socket }) => {
    const peer = socket.remoteAddress ?? 'unknown';
    if (trustedProxies === 0) return peer;
    const forwarded = [headers['x-forwarded-for'] ?? []].flat().join(',');
    const hops = [...forwarded.split(',').map((hop) => hop.trim()), peer].filter((hop) => hop !== '');
    return hops[Math.max(0, hops.length - 1 - trustedProxies)] ?? peer;
  };
}
