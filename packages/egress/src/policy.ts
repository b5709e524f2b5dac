import type { Address } from './address.ts';
import { compileAllowedDomains, type DomainRule } from './allowedDomains.ts';
import { EgressPolicyError } from './errors.ts';
import type { Audience } from './targetCheck.ts';
import { compileAllowedAddresses } from './allowedAddresses.ts';
import { parseTarget, type NetworkTarget } from './target.ts';

/** The settings that decide where requests may go. */
export interface EgressSettings {
  /** `mcpSettings.allowedDomains`; non-empty means nothing else. */
  readonly allowedDomains?: readonly string[];
  /** `mcpSettings.allowedAddresses`: private space for everyone. */
  readonly allowedAddresses?: readonly string[];
  /** `mcpSettings.operatorAddresses`: private space for servers of the YAML alone. */
  readonly operatorAddresses?: readonly string[];
  /** Origins of the configured issuers: open to the identity client alone. */
  readonly identityOrigins?: readonly string[];
  /** Origins of the configured models: open to the chat's own requests alone. */
  readonly modelOrigins?: readonly string[];
}

/** The settings, compiled once. */
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
