import { parseUrl } from '@behalf/contracts';
import { BlockList, isIP } from 'node:net';

/**
 * This provider lets anyone sign in as any user. It therefore listens on loopback only and never runs in
 * production. Both are checked before it listens.
 */
export function assertDevelopment({ isProduction, host }: { isProduction: boolean; host: string }): void {
  if (isProduction) {
    throw new Error(
      'The development identity provider does not run in production: it does not check passwords.',
    );
  }
  if (!isLoopback(host)) {
    throw new Error(
      `The development identity provider listens on loopback only; ${JSON.stringify(host)} is not a loopback address.`,
    );
  }
}

/** The issuer must be a loopback origin without path and query. */
export function readIssuer(issuer: string): URL {
  const url = parseUrl(issuer) && new URL(issuer);
  const hostname = url?.hostname.replace(/^\[|\]$/g, '') ?? '';
  if (url?.origin !== issuer || !(hostname === 'localhost' || isLoopback(hostname))) {
    throw new Error(`${JSON.stringify(issuer)} is not a loopback origin, such as http://127.0.0.1:9090.`);
  }
  return url;
}

/** Accepts IP literals only, because a name could resolve to any address. */
function isLoopback(address: string): boolean {
  const loopback = new BlockList();
  loopback.addSubnet('127.0.0.0', 8, 'ipv4');
  loopback.addAddress('::1', 'ipv6');
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 6 ? 'ipv6' : 'ipv4');
}
