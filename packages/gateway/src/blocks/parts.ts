import type { Clock, Random } from '@behalf/kernel';
import type { Acl } from '../access/acl.ts';
import type { AloneParts } from '../access/alone.ts';
import type { Roles } from '../access/roles.ts';
import type { Audit } from '../audit/audit.ts';
import type { UserVariables } from '../credentials/userVariables.ts';
import type { CredentialVault } from '../credentials/vault/vault.ts';
import type { UserStore } from '../ports/index.ts';
import type { Registry } from '../registry/registry.ts';
import type { CallParts } from '../toolcall/callTool.ts';
import type { ListToolsParts } from '../toolcall/listTools.ts';
import type { Blocks } from './sealedBlocks.ts';

/** What reading about blocks needs. */
export interface ViewBlockParts {
  readonly blocks: Blocks;
  readonly acl: Pick<Acl, 'sees' | 'blockBits' | 'blocksOf'>;
  readonly roles: Pick<Roles, 'requirePermission'>;
  readonly registry: Pick<Registry, 'get'>;
}

/** What saving and sharing them needs. */
export interface SaveBlockParts extends ViewBlockParts, AloneParts {
  readonly acl: Acl;
  readonly roles: Pick<Roles, 'requirePermission' | 'refresh' | 'exists'>;
  readonly users: Pick<UserStore, 'findById'>;
  readonly audit: Audit;
  readonly clock: Clock;
  readonly random: Random;
  /** How the caller's tools are listed, and values checked against a schema. */
  readonly asking: CallParts & ListToolsParts;
}

/** How it stands with the caller's own credentials, without opening or renewing any. */
export interface StandingParts {
  readonly vault: Pick<CredentialVault, 'list'>;
  readonly variables: Pick<UserVariables, 'flags'>;
  readonly clock: Clock;
}

/** What running and checking them needs. */
export interface RunBlockParts extends ViewBlockParts {
  readonly acl: Pick<Acl, 'sees' | 'blockBits' | 'blocksOf' | 'manageBits'>;
  readonly registry: Pick<Registry, 'get' | 'origin'>;
  readonly asking: CallParts & ListToolsParts;
  readonly standing: StandingParts;
}
