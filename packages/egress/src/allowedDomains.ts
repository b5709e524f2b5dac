import { parseHost } from './target.ts';
import { EgressPolicyError } from './errors.ts';
import { defaultPort } from './target.ts';

/** Says whether a target may be spoken to by name. */
export type DomainRule = (protocol: string, host: string, port: number) => boolean;

interface DomainEntry {
  host: string;
  isWildcard: boolean;
  protocol: string | undefined;
  port: number | undefined;
}

const DOMAIN_ENTRY_PATTERN =
  /^(?:([a-z]+):\/\/)?(\*\.)?(\[[0-9a-f:.]+\]|[^\s/:?#@*[\]]+)(?::([0-9]{1,5}))?\/?$/i;

/**
 * Compiles `mcpSettings.allowedDomains`. An empty list allows every name; a non-empty one allows nothing else. An
 * entry with a scheme means that scheme's effective port, so `https://h` and `https://h:443` are one entry; one with
 * neither scheme nor port means any. As in LibreChat, `*.h` includes `h`, and `www.` is ignored on both sides; not behind
 * a wildcard, where it would open every neighbour of the zone that was meant.
 */
export function compileAllowedDomains(domains: readonly string[]): DomainRule {
  const entries = domains.map(parseDomainEntry);
  if (entries.length === 0) return () => true;
  return (protocol, host, port) => {
    const hostWithoutWww = stripWww(host);
    return entries.some(
      (entry) =>
        (entry.protocol === undefined || entry.protocol === protocol) &&
        (entry.port === undefined || entry.port === port) &&
        (entry.isWildcard
          ? host === entry.host || host.endsWith(`.${entry.host}`)
          : hostWithoutWww === entry.host),
    );
  };
}

function parseDomainEntry(text: string, index: number): DomainEntry {
  const [, scheme, wildcardPrefix, rawHost = '', rawPort] = DOMAIN_ENTRY_PATTERN.exec(text.trim()) ?? [];
  const protocol = scheme === undefined ? undefined : `${scheme.toLowerCase()}:`;
  const host = parseHost(rawHost);
  const schemePort = protocol === undefined ? 0 : defaultPort(protocol);
  const port = rawPort === undefined ? schemePort || undefined : Number(rawPort);
  if (host === undefined || schemePort === undefined || port === 0 || (port ?? 0) > 65_535) {
    throw new EgressPolicyError(
      ['allowedDomains', index],
      'must be a host or *.host, optionally with the scheme http, https, ws or wss and a port',
    );
  }
  return {
    host: wildcardPrefix === undefined ? stripWww(host) : host,
    isWildcard: wildcardPrefix !== undefined,
    protocol,
    port,
  };
}

function stripWww(host: string): string {
  return host.startsWith('www.') ? host.slice(4) : host;
}
