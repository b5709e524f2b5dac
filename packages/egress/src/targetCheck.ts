import type { Resolve } from '@behalf/kernel';
import { type Address, findRange, formatAddress, isSameAddress, parseAddress } from './address.ts';
import { EgressError } from './errors.ts';
import type { Policy } from './policy.ts';
import { type NetworkTarget, parseTarget } from './target.ts';

/** The kind of the request's target. It determines which allow-list entries apply. */
export type Audience = 'yaml-server' | 'user-server' | 'identity' | 'model';

/** A target that passed all checks, with the addresses that were checked. */
export interface CheckedTarget extends NetworkTarget {
  /**
   * The IP addresses to connect to, in the order of the DNS answer. Empty only for an allowed host that only the
   * proxy can resolve.
   */
  readonly addresses: readonly string[];
}

export interface TargetCheckOptions {
  audience: Audience;
  /**
   * False after a redirect to another origin: the operator's entry applies to the first server, not to the redirect
   * target.
   */
  hasExemptions?: boolean;
  /** With a proxy, a host that this process cannot resolve is accepted if the operator allowed it. */
  isProxied?: boolean;
}

export type CheckTarget = (url: URL, options: TargetCheckOptions) => Promise<CheckedTarget>;

/**
 * The SSRF guard. Invariants:
 * - The domain list and the address check are independent. A target must pass both.
 * - All addresses of a name must pass. A DNS answer that mixes public and private addresses is a sign of DNS
 *   rebinding, and the result must not depend on the order of the answer.
 * - The caller connects only to the returned addresses, so a second DNS lookup cannot change the target.
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
    // Model requests go only to the configured origins. The domain list is for MCP servers.
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

/** Empty if DNS fails, has no result, or returns a value that is not an IP address. */
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

/** The addresses of this gateway. User-defined servers must not point to them. */
export interface OwnEndpoints {
  /** PUBLIC_URL and its aliases. */
  readonly origins: readonly string[];
  readonly listeners: readonly { readonly address: string; readonly port: number }[];
  /** The addresses of this machine, on which a wildcard listener accepts connections. */
  localAddresses(): readonly string[];
}

/** Whether the target is a public name of this gateway on a port where the gateway or its reverse proxy may listen. */
function isOwnName(ownEndpoints: OwnEndpoints, target: NetworkTarget): boolean {
  return ownEndpoints.origins.some((origin) => {
    const ownTarget = parseTarget(new URL(origin));
    const ports = [ownTarget.port, 80, 443, ...ownEndpoints.listeners.map(({ port }) => port)];
    return ownTarget.host === target.host && ports.includes(target.port);
  });
}

/** Whether this process listens on the address and port. */
function isOwnAddress(ownEndpoints: OwnEndpoints, address: Address, port: number): boolean {
  return ownEndpoints.listeners.some((listener) => {
    if (listener.port !== port) return false;
    const listenAddress = parseAddress(listener.address);
    // A listener whose address cannot be parsed is treated as a wildcard listener.
    const isWildcard = !listenAddress || listenAddress.bytes.every((byte) => byte === 0);
    if (!isWildcard) return isSameAddress(listenAddress, address);
    if (findRange(address)?.name.startsWith('loopback') === true) return true;
    return ownEndpoints.localAddresses().some((text) => {
      const local = parseAddress(text);
      return local !== undefined && isSameAddress(local, address);
    });
  });
}

/** Common names of internal services in container networks, clusters and clouds. */
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

/**
 * Zones that are private by definition: RFC 6761 section 6.3, RFC 6762, RFC 8375, and ICANN's reservation of
 * .internal.
 */
const LOCAL_ZONES = ['.localhost', '.local', '.home.arpa', '.internal', '.svc'];

/**
 * Rejects such a name before any DNS lookup, so that response times do not reveal which internal names exist. An
 * operator's host:port entry allows it.
 */
function isBlockedName(host: string): boolean {
  return SERVICE_NAMES.has(host) || LOCAL_ZONES.some((zone) => host.endsWith(zone));
}
