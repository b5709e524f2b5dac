import type { Clock, Random } from '@behalf/kernel';
import type { Acl } from '../access/acl.ts';
import type { OboTargets } from '../access/oboTargets.ts';
import type { Roles } from '../access/roles.ts';
import { type Audit, actorOf } from '../audit/audit.ts';
import type { ServerGrants } from '../credentials/signin/serverGrants.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UserStore } from '../ports/index.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { LeaseParts } from '../replication/withLease.ts';
import type { UserServer } from '../definitions/definition.ts';
import type { AdoptDraftParts } from './drafts.ts';
import type { Registry } from './registry.ts';
import type { StoredServers } from './stored.ts';

/** The result of probing a definition. */
export interface ServerProbe {
  /** The number of tools. Absent if the server requires a sign-in first. */
  readonly tools?: number;
}

/** The dependencies of creating, changing, checking and removing users' servers. */
export interface ConfigureParts extends LeaseParts {
  readonly acl: Pick<Acl, 'canUse' | 'getManageBits' | 'grantOwner' | 'removeServer' | 'refresh'>;
  readonly roles: Pick<Roles, 'permits' | 'requirePermission' | 'refresh'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly registry: Pick<Registry, 'find' | 'isReserved'>;
  readonly stored: StoredServers;
  readonly grants: Pick<ServerGrants, 'removeAll'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly random: Random;
  /** Decides whether exchanged tokens may be sent to a server's address. */
  readonly oboTargets: Pick<OboTargets, 'findProblem'>;
  /** Whether the operator lists the address with `http://`, so that users' values may be sent unencrypted. */
  readonly isPlainHttpAllowed: (url: string) => boolean;
  /** Throws MCP_DOMAIN_NOT_ALLOWED for an address that users may not choose. Opens no connection. */
  readonly checkAddress: (url: string) => Promise<void>;
  /** Probes a definition. Throws MCP_INSPECTION_FAILED if no MCP server responds. */
  readonly inspect: (server: UserServer) => Promise<ServerProbe>;
  /** Resolves when the registry of this process contains the latest stored change. */
  readonly refreshRegistry: () => Promise<void>;
  readonly draftParts: AdoptDraftParts;
  /** The maximum number of servers per user. */
  readonly maxPerUser: number;
}

type ConfigAction =
  | 'server.create'
  | 'server.change'
  | 'server.check'
  | 'server.discover'
  | 'server.delete'
  | 'override.put'
  | 'override.delete';

/** The audit event of a configuration change. `server` is unknown until a new server has a name. */
export function createConfigEvent(
  principal: UserPrincipal,
  { action, door, server }: { action: ConfigAction; door: 'rest' | 'admin'; server?: string | undefined },
) {
  const actor = actorOf(principal);
  const event = { kind: 'config', action, door, tenant: principal.tenant, actor } as const;
  return server === undefined ? event : { ...event, server };
}

/** The condition of a write request. */
export interface IfMatchCondition {
  readonly ifMatch?: string | undefined;
}

/** The version of a record as an entity tag (RFC 9110, section 8.8.3). */
export function toEtag(version: number): string {
  return `"${version}"`;
}

/**
 * The versions in an `If-Match` header (RFC 9110, section 13.1.1). Null accepts any version: the header is absent or `*`.
 * Accepts weak tags, because a proxy that recompresses a response makes its tag weak. Unknown tags are ignored, so the
 * result may be empty.
 */
export function parseIfMatch(ifMatch: string | undefined): readonly number[] | null {
  if (ifMatch === undefined) return null;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (tags.includes('*')) return null;
  return tags.flatMap((tag) => /^(?:W\/)?"(0|[1-9]\d{0,14})"$/.exec(tag)?.[1] ?? []).map(Number);
}

/** Throws MCP_VERSION_CONFLICT if the condition does not include this version. */
export function requireIfMatch(ifMatch: string | undefined, version: number): void {
  const versions = parseIfMatch(ifMatch);
  if (versions !== null && !versions.includes(version)) throw new GatewayError('MCP_VERSION_CONFLICT');
}
