import { parseAddress, isSameAddress, type Address } from './address.ts';
import { findRange } from './ranges.ts';
import { parseTarget, type NetworkTarget } from './target.ts';

/** Where this gateway itself can be found. */
export interface OwnEndpoints {
  /** PUBLIC_URL and its aliases. */
  readonly origins: readonly string[];
  readonly listeners: readonly { readonly address: string; readonly port: number }[];
  /** The addresses of this machine: what a wildcard listener answers on. */
  localAddresses(): readonly string[];
}

/** True for our own public name on a port where we, or the proxy before us, may answer. */
export function isOwnName(ownEndpoints: OwnEndpoints, target: NetworkTarget): boolean {
  return ownEndpoints.origins.some((origin) => {
    const ownTarget = parseTarget(new URL(origin));
    const ports = [ownTarget.port, 80, 443, ...ownEndpoints.listeners.map(({ port }) => port)];
    return ownTarget.host === target.host && ports.includes(target.port);
  });
}

/** True for an address and port this process listens on. */
export function isOwnAddress(ownEndpoints: OwnEndpoints, address: Address, port: number): boolean {
  return ownEndpoints.listeners.some((listener) => {
    if (listener.port !== port) return false;
    const listenAddress = parseAddress(listener.address);
    // A listener we cannot read could be anywhere on this machine.
    const isWildcard = !listenAddress || listenAddress.bytes.every((byte) => byte === 0);
    if (!isWildcard) return isSameAddress(listenAddress, address);
    if (findRange(address)?.name.startsWith('loopback') === true) return true;
    return ownEndpoints.localAddresses().some((text) => {
      const local = parseAddress(text);
      return local !== undefined && isSameAddress(local, address);
    });
  });
}
