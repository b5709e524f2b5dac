import type { Path } from '@behalf/contracts';
import { formatAddress, parseAddress, type Address } from './address.ts';
import { EgressPolicyError } from './errors.ts';
import { findRange } from './ranges.ts';
import { parseHost } from './target.ts';

/** `host:port` pairs that an operator opened. */
export interface AllowedAddresses {
  /** The host as it stands in the URL. */
  hasHost(host: string, port: number): boolean;
  /** An address a name resolved to: who may dial the literal may reach it by name, too. */
  hasAddress(address: Address, port: number): boolean;
}

const ADDRESS_ENTRY_PATTERN = /^(\[[0-9a-f:.]+\]|[^\s/:?#@*[\]]+):([0-9]{1,5})$/i;

/** Compiles `allowedAddresses` or `operatorAddresses`. The port is mandatory: a whole host is never opened. */
export function compileAllowedAddresses(setting: string, entries: readonly string[]): AllowedAddresses {
  const allowed = new Set(entries.map((text, index) => parseAddressEntry([setting, index], text)));
  return {
    hasHost: (host, port) => allowed.has(toEntryKey(host, port)),
    hasAddress: ({ bytes }, port) =>
      allowed.size > 0 && allowed.has(toEntryKey(formatAddress({ bytes }), port)),
  };
}

function parseAddressEntry(path: Path, text: string): string {
  const [, rawHost = '', rawPort = '0'] = ADDRESS_ENTRY_PATTERN.exec(text) ?? [];
  const host = parseHost(rawHost);
  const port = Number(rawPort);
  if (host === undefined || port === 0 || port > 65_535) {
    throw new EgressPolicyError(path, 'must be host:port (IPv6: [address]:port)');
  }
  const ipAddress = parseAddress(host);
  if (!ipAddress) return toEntryKey(host, port);
  if (findRange(ipAddress)?.canBeAllowed !== true) {
    throw new EgressPolicyError(path, 'is not in a private range that can be allowed');
  }
  return toEntryKey(formatAddress(ipAddress), port);
}

function toEntryKey(host: string, port: number): string {
  // A literal has several spellings; its bytes have one.
  const ipAddress = parseAddress(host);
  return JSON.stringify([ipAddress ? formatAddress({ bytes: ipAddress.bytes }) : host, port]);
}
