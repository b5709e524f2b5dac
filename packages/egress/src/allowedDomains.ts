import { hostOf } from './target.ts';
import { EgressPolicyError } from './errors.ts';
import { defaultPort } from './target.ts';

/** Says whether a target may be spoken to by name. */
export type DomainRule = (protocol: string, host: string, port: number) => boolean;

interface Entry {
  host: string;
  wildcard: boolean;
  protocol: string | undefined;
  port: number | undefined;
}

const ENTRY = /^(?:([a-z]+):\/\/)?(\*\.)?(\[[0-9a-f:.]+\]|[^\s/:?#@*[\]]+)(?::([0-9]{1,5}))?\/?$/i;

/**
 * Compiles `mcpSettings.allowedDomains`. An empty list allows every name; a non-empty one allows nothing else. An
 * entry with a scheme means that scheme's effective port, so `https://h` and `https://h:443` are one entry; one with
 * neither scheme nor port means any. As in LibreChat, `*.h` includes `h`, and `www.` is ignored on both sides; not behind
 * a wildcard, where it would open every neighbour of the zone that was meant.
 */
export function compileDomains(list: readonly string[]): DomainRule {
  const entries = list.map(parseEntry);
  if (entries.length === 0) return () => true;
  return (protocol, host, port) => {
    const plain = withoutWww(host);
    return entries.some(
      (entry) =>
        (entry.protocol === undefined || entry.protocol === protocol) &&
        (entry.port === undefined || entry.port === port) &&
        (entry.wildcard ? host === entry.host || host.endsWith(`.${entry.host}`) : plain === entry.host),
    );
  };
}

function parseEntry(text: string, index: number): Entry {
  const [, scheme, wildcard, rawHost = '', rawPort] = ENTRY.exec(text.trim()) ?? [];
  const protocol = scheme === undefined ? undefined : `${scheme.toLowerCase()}:`;
  const host = hostOf(rawHost);
  const known = protocol === undefined ? 0 : defaultPort(protocol);
  const port = rawPort === undefined ? known || undefined : Number(rawPort);
  if (host === undefined || known === undefined || port === 0 || (port ?? 0) > 65_535) {
    throw new EgressPolicyError(
      ['allowedDomains', index],
      'is not a host, *.host, or one of them with http, https, ws or wss or a port',
    );
  }
  return {
    host: wildcard === undefined ? withoutWww(host) : host,
    wildcard: wildcard !== undefined,
    protocol,
    port,
  };
}

function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host;
}
