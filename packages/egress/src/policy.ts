import type { Address } from './address.ts';
import { compileDomains, type DomainRule } from './allowedDomains.ts';
import { EgressPolicyError } from './errors.ts';
import type { Audience } from './judge.ts';
import { compileOpenAddresses } from './openAddresses.ts';
import { targetOf, type Target } from './target.ts';

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
  readonly domainAllowed: DomainRule;
  opensHost(audience: Audience, host: string, port: number): boolean;
  opensAddress(audience: Audience, address: Address, port: number): boolean;
  isIssuer(target: Target): boolean;
  isModel(target: Target): boolean;
}

export function compilePolicy(settings: EgressSettings): Policy {
  const everyone = compileOpenAddresses('allowedAddresses', settings.allowedAddresses ?? []);
  const operator = compileOpenAddresses('operatorAddresses', settings.operatorAddresses ?? []);
  const issuers = originsOf('identityOrigins', settings.identityOrigins, 'an issuer');
  const models = originsOf('modelOrigins', settings.modelOrigins, 'a model API');
  const trusted = (audience: Audience) => audience === 'yaml-server';
  return {
    domainAllowed: compileDomains(settings.allowedDomains ?? []),
    opensHost: (audience, host, port) =>
      everyone.hasHost(host, port) || (trusted(audience) && operator.hasHost(host, port)),
    opensAddress: (audience, address, port) =>
      everyone.hasAddress(address, port) || (trusted(audience) && operator.hasAddress(address, port)),
    isIssuer: (target) => issuers.has(originKey(target)),
    isModel: (target) => models.has(originKey(target)),
  };
}

function originsOf(setting: string, urls: readonly string[] = [], what: string): ReadonlySet<string> {
  const keys = urls.map((url, index) => {
    try {
      return originKey(targetOf(new URL(url)));
    } catch {
      throw new EgressPolicyError([setting, index], `is not the http(s) URL of ${what}, without credentials`);
    }
  });
  return new Set(keys);
}

function originKey({ protocol, host, port }: Target): string {
  return JSON.stringify([protocol, host, port]);
}
