import type { Path } from '@behalf/contracts';
import { formatAddress, parseAddress, type Address } from './address.ts';
import { EgressPolicyError } from './errors.ts';
import { rangeOf } from './ranges.ts';
import { hostOf } from './target.ts';

/** `host:port` pairs that an operator opened. */
export interface OpenAddresses {
  /** The host as it stands in the URL. */
  hasHost(host: string, port: number): boolean;
  /** An address a name resolved to: who may dial the literal may reach it by name, too. */
  hasAddress(address: Address, port: number): boolean;
}

const ENTRY = /^(\[[0-9a-f:.]+\]|[^\s/:?#@*[\]]+):([0-9]{1,5})$/i;

/** Compiles `allowedAddresses` or `operatorAddresses`. The port is mandatory: a whole host is never opened. */
export function compileOpenAddresses(setting: string, list: readonly string[]): OpenAddresses {
  const open = new Set(list.map((text, index) => parseEntry([setting, index], text)));
  return {
    hasHost: (host, port) => open.has(key(host, port)),
    hasAddress: ({ bytes }, port) => open.size > 0 && open.has(key(formatAddress({ bytes }), port)),
  };
}

function parseEntry(path: Path, text: string): string {
  const [, rawHost = '', rawPort = '0'] = ENTRY.exec(text) ?? [];
  const host = hostOf(rawHost);
  const port = Number(rawPort);
  if (host === undefined || port === 0 || port > 65_535) {
    throw new EgressPolicyError(path, 'is not host:port (IPv6 as [address]:port)');
  }
  const literal = parseAddress(host);
  if (!literal) return key(host, port);
  if (rangeOf(literal)?.openable !== true) {
    throw new EgressPolicyError(path, 'is not in a private range that can be opened');
  }
  return key(formatAddress(literal), port);
}

function key(host: string, port: number): string {
  // A literal has several spellings; its bytes have one.
  const literal = parseAddress(host);
  return JSON.stringify([literal ? formatAddress({ bytes: literal.bytes }) : host, port]);
}
