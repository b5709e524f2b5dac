import type { Clock, Random } from '@behalf/kernel';
import type { Acl } from '../../access/acl.ts';
import type { OboTargets } from '../../access/oboTargets.ts';
import type { Roles } from '../../access/roles.ts';
import { type Audit, actorOf } from '../../audit/audit.ts';
import type { ServerGrants } from '../../credentials/signin/serverGrants.ts';
import { GatewayError } from '../../errors/gatewayError.ts';
import type { UserStore } from '../../ports/index.ts';
import type { UserPrincipal } from '../../principal/principal.ts';
import type { LeaseParts } from '../../replication/withLease.ts';
import type { UserServer } from '../definition.ts';
import type { Registry } from '../registry.ts';
import type { StoredServers } from '../stored.ts';
import type { AdoptDraftParts } from './drafts.ts';

/** What reading about servers needs. */
export interface ViewParts {
  readonly acl: Pick<Acl, 'canUse' | 'getManageBits'>;
  readonly roles: Pick<Roles, 'requirePermission'>;
  readonly registry: Pick<Registry, 'find' | 'list' | 'origin'>;
}

/** What a first look at a server found. */
export interface ServerProbe {
  /** Absent: it is there, and wants a user to sign in first. */
  readonly tools?: number;
}

/** What defining servers needs. */
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
  /** Whether tokens with a server's scopes may go to its address. */
  readonly oboTargets: Pick<OboTargets, 'findProblem'>;
  /** Whether the operator declares an address with `http://`, so that users' values may go there in the clear. */
  readonly isPlainHttpAllowed: (url: string) => boolean;
  /** Throws MCP_DOMAIN_NOT_ALLOWED for an address that users may not choose. Opens nothing. */
  readonly checkAddress: (url: string) => Promise<void>;
  /** Throws MCP_INSPECTION_FAILED when there is no MCP server to talk to. */
  readonly inspect: (server: UserServer) => Promise<ServerProbe>;
  /** Resolves when the registry of this process knows what has just been stored. */
  readonly refreshRegistry: () => Promise<void>;
  /** For a server that was looked at, and signed in at, before it was saved. */
  readonly draftParts: AdoptDraftParts;
  /** How many servers one user may have. */
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

/** A change of the configuration, as it is written down. The name is learnt later of a server that is being made. */
export function createConfigEvent(
  principal: UserPrincipal,
  { action, door, server }: { action: ConfigAction; door: 'rest' | 'admin'; server?: string | undefined },
) {
  const event = {
    kind: 'config',
    action,
    door,
    tenant: principal.tenant,
    actor: actorOf(principal),
  } as const;
  return server === undefined ? event : { ...event, server };
}

/** The version of a record as an entity tag (RFC 9110 section 8.8.3). */
export function toEtag(version: number): string {
  return `"${version}"`;
}

/**
 * The versions that a condition names (RFC 9110 section 13.1.1). Null: any will do, by `*` or because there is no
 * condition. A proxy that recompressed an answer has made its tag weak, so a weak one counts as well: it still names the
 * version that was read. What is no tag of ours names no version, and a condition may thus name none.
 */
export function parseIfMatch(ifMatch: string | undefined): readonly number[] | null {
  if (ifMatch === undefined) return null;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (tags.includes('*')) return null;
  return tags.flatMap((tag) => /^(?:W\/)?"(0|[1-9]\d{0,14})"$/.exec(tag)?.[1] ?? []).map(Number);
}

/** Throws unless the condition is met by this version. */
export function requireIfMatch(ifMatch: string | undefined, version: number): void {
  const versions = parseIfMatch(ifMatch);
  if (versions !== null && !versions.includes(version)) throw new GatewayError('MCP_VERSION_CONFLICT');
}
