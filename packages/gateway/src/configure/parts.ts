import type { Clock, Random } from '@behalf/kernel';
import type { Acl } from '../access/acl.ts';
import type { WithLeaseParts } from '../access/withLease.ts';
import type { OboTargets } from '../access/oboTargets.ts';
import type { Roles } from '../access/roles.ts';
import type { Audit } from '../audit/audit.ts';
import type { AdoptDraftParts } from '../drafts/adoptDraft.ts';
import type { ServerGrants } from '../credentials/oauth/serverGrants.ts';
import type { UserStore } from '../ports/index.ts';
import type { Registry } from '../registry/registry.ts';
import type { UserServer } from '../registry/server.ts';
import type { StoredServers } from '../registry/storedServers.ts';

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
export interface ConfigureParts extends WithLeaseParts {
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
