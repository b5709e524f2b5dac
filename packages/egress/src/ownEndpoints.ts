import { parseAddress, sameAddress, type Address } from './address.ts';
import { rangeOf } from './ranges.ts';
import { targetOf, type Target } from './target.ts';

/** Where this gateway itself can be found. */
export interface OwnEndpoints {
  /** PUBLIC_URL and its aliases. */
  readonly origins: readonly string[];
  readonly listening: readonly { readonly address: string; readonly port: number }[];
  /** The addresses of this machine: what a wildcard listener answers on. */
  localAddresses(): readonly string[];
}

/** True for our own public name on a port where we, or the proxy before us, may answer. */
export function isOwnName(own: OwnEndpoints, target: Target): boolean {
  return own.origins.some((origin) => {
    const ours = targetOf(new URL(origin));
    const ports = [ours.port, 80, 443, ...own.listening.map(({ port }) => port)];
    return ours.host === target.host && ports.includes(target.port);
  });
}

/** True for an address and port this process listens on. */
export function isOwnAddress(own: OwnEndpoints, address: Address, port: number): boolean {
  return own.listening.some((listener) => {
    if (listener.port !== port) return false;
    const bound = parseAddress(listener.address);
    // A listener we cannot read could be anywhere on this machine.
    const wildcard = !bound || bound.bytes.every((byte) => byte === 0);
    if (!wildcard) return sameAddress(bound, address);
    if (rangeOf(address)?.name.startsWith('loopback') === true) return true;
    return own.localAddresses().some((text) => {
      const local = parseAddress(text);
      return local !== undefined && sameAddress(local, address);
    });
  });
}
