import type { IncomingMessage } from 'node:http';

/**
 * Whose address a request comes from. Of what proxies say only the last `proxies` are believed: everything before was
 * written by whoever called them.
 */
export function createAddressOf(proxies: number): (req: IncomingMessage) => string {
  return ({ headers, socket }) => {
    const last = socket.remoteAddress ?? 'unknown';
    if (proxies === 0) return last;
    const said = [headers['x-forwarded-for'] ?? []].flat().join(',');
    const hops = [...said.split(',').map((hop) => hop.trim()), last].filter((hop) => hop !== '');
    return hops[Math.max(0, hops.length - 1 - proxies)] ?? last;
  };
}
