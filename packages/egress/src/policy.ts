import type { Path } from '@behalf/contracts';
import { type Address, findRange, formatAddress, parseAddress } from './address.ts';
import { EgressPolicyError } from './errors.ts';
import { type NetworkTarget, defaultPort, parseHost, parseTarget } from './target.ts';
import type { Audience } from './targetCheck.ts';

/** The settings that decide which servers Behalf may contact. */
export interface EgressSettings {
  /** `mcpSettings.allowedDomains`. If not empty, all other domains are denied. */
  readonly allowedDomains?: readonly string[];
  /** `mcpSettings.allowedAddresses`: private addresses that every server may use. */
  readonly allowedAddresses?: readonly string[];
  /** `mcpSettings.operatorAddresses`: private addresses that only servers defined in YAML may use. */
  readonly operatorAddresses?: readonly string[];
  /** Origins of the configured identity providers. Only the identity client may contact them. */
  readonly identityOrigins?: readonly string[];
  /** Origins of the configured model APIs. Only the chat may contact them. */
  readonly modelOrigins?: readonly string[];
}

export interface Policy {
  readonly isDomainAllowed: DomainRule;
  allowsHost(audience: Audience, host: string, port: number): boolean;
  allowsAddress(audience: Audience, address: Address, port: number): boolean;
  isIssuer(target: NetworkTarget): boolean;
  isModel(target: NetworkTarget): boolean;
}

export function compilePolicy(settings: EgressSettings): Policy {
  const forAllServers = compileAllowedAddresses('allowedAddresses', settings.allowedAddresses ?? []);
  const forOperatorServers = compileAllowedAddresses('operatorAddresses', settings.operatorAddresses ?? []);
  const issuers = parseOrigins('identityOrigins', settings.identityOrigins, 'an issuer');
  const models = parseOrigins('modelOrigins', settings.modelOrigins, 'a model API');
  const isOperatorServer = (audience: Audience) => audience === 'yaml-server';
  return {
    isDomainAllowed: compileAllowedDomains(settings.allowedDomains ?? []),
    allowsHost: (audience, host, port) =>
      forAllServers.hasHost(host, port) ||
      (isOperatorServer(audience) && forOperatorServers.hasHost(host, port)),
    allowsAddress: (audience, address, port) =>
      forAllServers.hasAddress(address, port) ||
      (isOperatorServer(audience) && forOperatorServers.hasAddress(address, port)),
    isIssuer: (target) => issuers.has(originKey(target)),
    isModel: (target) => models.has(originKey(target)),
  };
}

function parseOrigins(
  setting: string,
  urls: readonly string[] = [],
  description: string,
): ReadonlySet<string> {
  const keys = urls.map((url, index) => {
    try {
      return originKey(parseTarget(new URL(url)));
    } catch {
      throw new EgressPolicyError(
        [setting, index],
        `is not the http(s) URL of ${description}, without credentials`,
      );
    }
  });
  return new Set(keys);
}

function originKey({ protocol, host, port }: NetworkTarget): string {
  return JSON.stringify([protocol, host, port]);
}

/** Whether the domain list allows a target. */
type DomainRule = (protocol: string, host: string, port: number) => boolean;

interface DomainEntry {
  host: string;
  isWildcard: boolean;
  protocol: string | undefined;
  port: number | undefined;
}

const DOMAIN_ENTRY_PATTERN =
  /^(?:([a-z]+):\/\/)?(\*\.)?(\[[0-9a-f:.]+\]|[^\s/:?#@*[\]]+)(?::([0-9]{1,5}))?\/?$/i;

/**
 * Compiles `mcpSettings.allowedDomains`. An empty list allows every name; otherwise only listed names are allowed.
 * An entry with a scheme means the effective port of that scheme, so `https://h` and `https://h:443` are equal. An
 * entry with neither scheme nor port matches any. As in LibreChat, `*.h` includes `h`, and `www.` is ignored on
 * both sides. It is not ignored behind a wildcard, because `*.www.h` would then match every subdomain of `h`.
 */
function compileAllowedDomains(domains: readonly string[]): DomainRule {
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

/** `host:port` pairs that the operator allowed. */
interface AllowedAddresses {
  /** Matches the host of the URL. */
  hasHost(host: string, port: number): boolean;
  /** Matches an address that a name resolved to: an allowed IP address is also reachable by name. */
  hasAddress(address: Address, port: number): boolean;
}

const ADDRESS_ENTRY_PATTERN = /^(\[[0-9a-f:.]+\]|[^\s/:?#@*[\]]+):([0-9]{1,5})$/i;

/**
 * Compiles `allowedAddresses` or `operatorAddresses`. The port is mandatory, so that an entry never allows a whole
 * host.
 */
function compileAllowedAddresses(setting: string, entries: readonly string[]): AllowedAddresses {
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
  // An IP address has several text forms. Normalize it.
  const ipAddress = parseAddress(host);
  return JSON.stringify([ipAddress ? formatAddress({ bytes: ipAddress.bytes }) : host, port]);
}
