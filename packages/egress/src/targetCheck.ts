import type { Resolve } from '@behalf/kernel';
import { type Address, findRange, formatAddress, isSameAddress, parseAddress } from './address.ts';
import { EgressError } from './errors.ts';
import type { Policy } from './policy.ts';
import { type NetworkTarget, parseTarget } from './target.ts';

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

/** Where this gateway itself can be found. */
export interface OwnEndpoints {
  /** PUBLIC_URL and its aliases. */
  readonly origins: readonly string[];
  readonly listeners: readonly { readonly address: string; readonly port: number }[];
  /** The addresses of this machine: what a wildcard listener answers on. */
  localAddresses(): readonly string[];
}

/** True for our own public name on a port where we, or the proxy before us, may answer. */
function isOwnName(ownEndpoints: OwnEndpoints, target: NetworkTarget): boolean {
  return ownEndpoints.origins.some((origin) => {
    const ownTarget = parseTarget(new URL(origin));
    const ports = [ownTarget.port, 80, 443, ...ownEndpoints.listeners.map(({ port }) => port)];
    return ownTarget.host === target.host && ports.includes(target.port);
  });
}

/** True for an address and port this process listens on. */
function isOwnAddress(ownEndpoints: OwnEndpoints, address: Address, port: number): boolean {
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

/** What a container network, a cluster or a cloud calls its own services: never meant for outsiders. */
const SERVICE_NAMES = new Set([
  'localhost',
  'api',
  'admin',
  'admin-panel',
  'backend',
  'cache',
  'consul',
  'database',
  'db',
  'elasticsearch',
  'etcd',
  'gateway',
  'host.docker.internal',
  'instance-data',
  'internal',
  'kafka',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'mariadb',
  'meilisearch',
  'memcached',
  'metadata',
  'minio',
  'mongo',
  'mongodb',
  'mysql',
  'postgres',
  'postgresql',
  'qdrant',
  'rabbitmq',
  'rag-api',
  'rag_api',
  'redis',
  'vault',
  'vectordb',
]);

/** Zones that are private by definition: RFC 6761 6.3, RFC 6762, RFC 8375, and ICANN's reservation of .internal. */
const LOCAL_ZONES = ['.localhost', '.local', '.home.arpa', '.internal', '.svc'];

/**
 * A second lock before the address check: such a name is refused before anything is asked of DNS, so a look-up
 * cannot tell an outsider which of them exist. An operator's host:port entry opens one.
 */
function isBlockedName(host: string): boolean {
  return SERVICE_NAMES.has(host) || LOCAL_ZONES.some((zone) => host.endsWith(zone));
}
