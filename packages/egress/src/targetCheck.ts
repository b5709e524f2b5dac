import type { Resolve } from '@behalf/kernel';
import { formatAddress, parseAddress, type Address } from './address.ts';
import { isBlockedName } from './blockedNames.ts';
import { EgressError } from './errors.ts';
import { isOwnAddress, isOwnName, type OwnEndpoints } from './ownEndpoints.ts';
import type { Policy } from './policy.ts';
import { findRange } from './ranges.ts';
import { parseTarget, type NetworkTarget } from './target.ts';

/** On whose word a request goes out: decides which exemptions count. */
export type Audience = 'yaml-server' | 'user-server' | 'identity' | 'model';

/** A target that passed every check, with the very addresses that were checked. */
export interface CheckedTarget extends NetworkTarget {
  /** Literals to dial, in the resolver's order. Empty only for an opened name that the proxy alone can resolve. */
  readonly addresses: readonly string[];
}

export interface TargetCheckOptions {
  audience: Audience;
  /** False after a redirect to another origin: the entry was written for the first server, not for who it points at. */
  hasExemptions?: boolean;
  /** The proxy can resolve a name that we cannot; only a name that the operator opened may rely on it. */
  isProxied?: boolean;
}

export type CheckTarget = (url: URL, options: TargetCheckOptions) => Promise<CheckedTarget>;

/**
 * The verdict on one URL. The domain list and the address check are independent: passing one never excuses the
 * other. Every address of a name must pass: a mixed answer is what rebinding looks like, and a verdict must not
 * depend on the order of a DNS answer.
 */
export function createTargetCheck(parts: {
  resolve: Resolve;
  policy: Policy;
  ownEndpoints: () => OwnEndpoints;
}): CheckTarget {
  const { resolve, policy } = parts;

  return async (url, { audience, hasExemptions = true, isProxied = false }) => {
    const target = parseTarget(url);
    const { protocol, host, port, ipAddress } = target;
    const ownEndpoints = audience === 'user-server' ? parts.ownEndpoints() : undefined;

    const isIssuer = hasExemptions && audience === 'identity' && policy.isIssuer(target);
    // Models are asked where the configuration says, and nowhere else: the list of domains is about servers.
    const isModel = hasExemptions && audience === 'model' && policy.isModel(target);
    if (audience === 'model') {
      if (!isModel) throw new EgressError('domain_not_allowed', host);
    } else if (!isIssuer && !policy.isDomainAllowed(protocol, host, port))
      throw new EgressError('domain_not_allowed', host);
    if (ownEndpoints && isOwnName(ownEndpoints, target)) throw new EgressError('gateway_address', host);

    const isHostAllowed = (hasExemptions && policy.allowsHost(audience, host, port)) || isIssuer || isModel;
    if (!ipAddress && isBlockedName(host) && !isHostAllowed) throw new EgressError('blocked_name', host);

    const addresses = ipAddress ? [ipAddress] : await lookUp(resolve, host);
    if (addresses.length === 0 && !(isProxied && isHostAllowed)) throw new EgressError('dns_failed', host);

    for (const address of addresses) {
      if (ownEndpoints && isOwnAddress(ownEndpoints, address, port))
        throw new EgressError('gateway_address', host);
      const range = findRange(address);
      if (range === undefined) continue;
      const isAllowed = isHostAllowed || (hasExemptions && policy.allowsAddress(audience, address, port));
      if (!range.canBeAllowed || !isAllowed) throw new EgressError('private_address', host);
    }
    return { ...target, addresses: addresses.map(formatAddress) };
  };
}

/** Empty when the resolver fails, finds nothing, or answers with something that is not an address. */
async function lookUp(resolve: Resolve, host: string): Promise<readonly Address[]> {
  let texts: readonly string[];
  try {
    texts = await resolve(host);
  } catch {
    return [];
  }
  const addresses = texts.map(parseAddress);
  return addresses.every((address) => address !== undefined) ? addresses : [];
}
